package auth

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// wellKnown is where the metadata of a resource is (RFC 9728, section 3).
const wellKnown = "/.well-known/oauth-protected-resource"

// metadataURL gives the URL of the metadata of a resource: the well-known path
// stands between its host and its own path (RFC 9728, section 3.1).
func metadataURL(resource string) (string, error) {
	u, err := url.Parse(resource)
	if err != nil || u.Scheme == "" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("auth: the resource is no absolute URI without a query")
	}
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	return u.Scheme + "://" + u.Host + wellKnown + path, nil
}

// protectedResource is the document (RFC 9728, section 2).
type protectedResource struct {
	Resource      string   `json:"resource"`
	Servers       []string `json:"authorization_servers"`
	Scopes        []string `json:"scopes_supported,omitempty"`
	BearerMethods []string `json:"bearer_methods_supported"`
	Name          string   `json:"resource_name,omitempty"`
}

// Public implements Publisher: the metadata of the resource, below its own
// path, below /mcp, where clients that know the endpoint alone look for it,
// and without a path, where older ones do.
func (c *Chain) Public() map[string]http.Handler {
	if c.opt.Tokens == nil {
		return nil
	}
	body, err := json.Marshal(protectedResource{
		Resource: c.opt.Resource, Servers: []string{c.opt.Tokens.Issuer()}, Scopes: c.opt.Tokens.Scopes(),
		BearerMethods: []string{"header"}, Name: c.opt.Name,
	})
	if err != nil {
		return nil // no value of these types does that
	}
	doc := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		h.Set("Content-Type", "application/json")
		h.Set("Cache-Control", "max-age=300")
		_, _ = w.Write(body)
	})
	all := map[string]http.Handler{wellKnown: doc, wellKnown + "/mcp": doc}
	// A path with braces would be a pattern; its clients find the others.
	if u, err := url.Parse(c.metadata); err == nil && !strings.ContainsAny(u.Path, "{}") {
		all[u.Path] = doc
	}
	return all
}

// challenge is the value of WWW-Authenticate (RFC 6750, section 3; RFC 9728,
// section 5.1), "" where no bearer token is taken. code and what are ours; the
// other texts come from the configuration, whose forms have no quotes.
func (c *Chain) challenge(code, what string) string {
	if c.opt.Keys == nil && c.opt.Tokens == nil {
		return ""
	}
	params := []string{}
	if c.metadata != "" {
		params = append(params, `resource_metadata="`+c.metadata+`"`)
		if scopes := c.opt.Tokens.Scopes(); len(scopes) > 0 {
			params = append(params, `scope="`+strings.Join(scopes, " ")+`"`)
		}
	} else {
		params = append(params, `realm="toolwarrant"`)
	}
	if code != "" {
		params = append(params, `error="`+code+`"`, `error_description="`+what+`"`)
	}
	return "Bearer " + strings.Join(params, ", ")
}
