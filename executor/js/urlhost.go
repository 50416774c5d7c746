package js

import (
	"math"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// hostProfile is the ToASCII of the standard: UTS 46, not transitional.
var hostProfile = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false), idna.CheckHyphens(false), idna.VerifyDNSLength(false))

func parseHost(host string, special bool) (string, error) {
	if strings.HasPrefix(host, "[") {
		if !strings.HasSuffix(host, "]") {
			return "", errURL
		}
		addr, err := netip.ParseAddr(host[1 : len(host)-1])
		if err != nil || !addr.Is6() || addr.Zone() != "" {
			return "", errURL
		}
		return "[" + ipv6Text(addr) + "]", nil
	}
	if !special {
		if strings.ContainsAny(host, "\x00\t\n\r #/:<>?@[\\]^|") {
			return "", errURL
		}
		return percent(host, ""), nil
	}
	domain := unpercent(host)
	if !utf8.ValidString(domain) {
		return "", errURL
	}
	ascii, err := hostProfile.ToASCII(domain)
	if err != nil || ascii == "" {
		return "", errURL
	}
	for i := 0; i < len(ascii); i++ {
		if c := ascii[i]; c <= 0x20 || c >= 0x7F || strings.IndexByte("#%/:<>?@[\\]^|", c) >= 0 {
			return "", errURL
		}
	}
	if endsInNumber(ascii) {
		return parseIPv4(ascii)
	}
	return ascii, nil
}

func ipv6Text(addr netip.Addr) string {
	if !addr.Is4In6() {
		return addr.String()
	}
	b := addr.As16()
	return "::ffff:" + strconv.FormatUint(uint64(b[12])<<8|uint64(b[13]), 16) + ":" + strconv.FormatUint(uint64(b[14])<<8|uint64(b[15]), 16)
}

func endsInNumber(host string) bool {
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	last := parts[len(parts)-1]
	if last == "" {
		return false
	}
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	_, ok := ipv4Number(last)
	return ok
}

func ipv4Number(s string) (uint64, bool) {
	base := 10
	switch {
	case len(s) >= 2 && (s[:2] == "0x" || s[:2] == "0X"):
		s, base = s[2:], 16
	case len(s) >= 2 && s[0] == '0':
		s, base = s[1:], 8
	}
	if s == "" {
		return 0, base != 10
	}
	if strings.ContainsAny(s, "_+-") {
		return 0, false
	}
	n, err := strconv.ParseUint(s, base, 64)
	return n, err == nil
}

func parseIPv4(host string) (string, error) {
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	if len(parts) > 4 {
		return "", errURL
	}
	var ip uint64
	for i, p := range parts {
		n, ok := ipv4Number(p)
		if !ok {
			return "", errURL
		}
		if i == len(parts)-1 {
			if n >= uint64(math.Pow(256, float64(5-len(parts)))) {
				return "", errURL
			}
			ip += n
			break
		}
		if n > 255 {
			return "", errURL
		}
		ip += n << (8 * (3 - i))
	}
	return netip.AddrFrom4([4]byte{byte(ip >> 24), byte(ip >> 16), byte(ip >> 8), byte(ip)}).String(), nil
}
