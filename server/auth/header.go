package auth

import "strings"

// maxToken bounds a bearer token, in bytes. Tokens with many groups have a few
// thousand.
const maxToken = 16 << 10

// bearer takes the token out of the Authorization header fields of a request
// (RFC 6750, section 2.1). came is false when there are none; ok is false when
// they are not one field with one token of the scheme Bearer. RFC 9110, section
// 11.1, has the name of the scheme in any case.
func bearer(fields []string) (token string, came, ok bool) {
	if len(fields) == 0 {
		return "", false, true
	}
	if len(fields) > 1 {
		return "", true, false
	}
	scheme, token, found := strings.Cut(fields[0], " ")
	token = strings.TrimLeft(token, " ")
	if !found || !strings.EqualFold(scheme, "Bearer") || !token68(token) {
		return "", true, false
	}
	return token, true, true
}

// token68 is the form of a bearer token: letters, digits and -._~+/, then any
// number of "=".
func token68(s string) bool {
	body := strings.TrimRight(s, "=")
	if body == "" || len(s) > maxToken {
		return false
	}
	for _, c := range []byte(body) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~+/", c) >= 0:
		default:
			return false
		}
	}
	return true
}
