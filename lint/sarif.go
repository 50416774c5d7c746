package lint

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"strings"
)

// The part of SARIF 2.1.0 that a linter needs. A library would bring two
// versions of the format and a second JSON Schema validator.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string      `json:"id"`
		Short   sarifText   `json:"shortDescription"`
		HelpURI string      `json:"helpUri"`
		Help    sarifText   `json:"help"`
		Default sarifConfig `json:"defaultConfiguration"`
	}
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
)

// SARIF writes the report for code scanning: every rule that found something
// with its page, and findings with their place in the file and in the document.
func SARIF(w io.Writer, r Report) error {
	s := sarifWriter{titles: r.titles, index: map[string]int{}, x: r.excerpt()}
	s.driver = sarifDriver{Name: "toolwarrant", Version: r.version, InformationURI: "https://github.com/toolwarrant/toolwarrant", Rules: []sarifRule{}}
	results := []sarifResult{}
	for _, f := range r.Findings {
		results = append(results, s.result(f))
	}
	for _, a := range r.suppressed {
		result := s.result(a.Finding)
		result.Suppressions = []sarifSuppression{{Kind: "inSource", Justification: visible(a.reason)}}
		results = append(results, result)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{
		Schema:  "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifRun{{Tool: sarifTool{Driver: s.driver}, ColumnKind: "unicodeCodePoints", Results: results}},
	})
}

// sarifWriter collects the rules while results are made.
type sarifWriter struct {
	driver sarifDriver
	titles map[string]string
	index  map[string]int
	x      *excerpt
}

func (s *sarifWriter) rule(f Finding) int {
	if i, ok := s.index[f.RuleID]; ok {
		return i
	}
	a := aboutRule(f.RuleID, s.titles)
	rule := sarifRule{ID: f.RuleID, Short: sarifText{Text: a.Title}, HelpURI: a.URL, Help: sarifText{Text: a.Help, Markdown: a.Help}, Default: sarifConfig{sarifLevel(f.Severity)}}
	s.index[f.RuleID] = len(s.driver.Rules)
	s.driver.Rules = append(s.driver.Rules, rule)
	return s.index[f.RuleID]
}

func (s *sarifWriter) result(f Finding) sarifResult {
	l := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{URI: sarifURI(f.File)}}}
	if f.Line > 0 {
		l.Physical.Region = &sarifRegion{f.Line, s.x.runes(f.File, f.Line, f.Column)}
	}
	if f.Pointer != "" {
		l.Logical = []sarifLogical{{visible(f.Pointer)}}
	}
	return sarifResult{
		RuleID: f.RuleID, RuleIndex: s.rule(f), Level: sarifLevel(f.Severity),
		Message: sarifText{Text: visible(f.Message)}, Locations: []sarifLocation{l},
		Fingerprints: map[string]string{"toolwarrant/v1": fingerprint(f)},
	}
}

func sarifLevel(s Severity) string {
	if s == Info {
		return "note"
	}
	return string(s)
}

// sarifURI keeps a path as it was named: a relative one stays relative to the
// folder that the command ran in, which is what code scanning expects.
func sarifURI(file string) string {
	path := filepath.ToSlash(file)
	if !filepath.IsAbs(file) {
		return (&url.URL{Path: path}).String()
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/tools
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// fingerprint names a finding across changes of line numbers.
func fingerprint(f Finding) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{f.RuleID, filepath.ToSlash(f.File), f.Pointer, f.Message}, "\x00")))
	return hex.EncodeToString(sum[:16])
}
