package policy

import (
	"strings"
	"testing"
)

// TestSecurityImpersonation checks that impersonation headers grant no additional permissions.
func TestSecurityImpersonation(t *testing.T) {
	v := start(t)
	const jane = "Authorization: Bearer " + token + "\r\n"
	ask := func(head, headers string) securityAnswer {
		return v.raw(v.anonymous(), head+" HTTP/1.1\r\nHost: x\r\n"+headers+"\r\n")
	}
	for _, path := range []string{"/api/v1/secrets", "/metrics", "/backup", "/version", "/livez", "/api/v1/secrets?watch=1", "/nowhere"} {
		for _, credentials := range []string{"", jane} {
			for headers, want := range map[string]int{
				// Without permission to impersonate.
				"Impersonate-User: admin\r\n":                                                 403,
				"Impersonate-User: admin\r\nImpersonate-Group: system:masters\r\n":            403,
				"Impersonate-Group: system:masters\r\nImpersonate-User: jane\r\n":             403,
				"Impersonate-User: system:serviceaccount:platform-system:x\r\n":               403,
				"Impersonate-User: system:anonymous\r\n":                                      403,
				"Impersonate-User: jane\r\nImpersonate-Extra-%73copes%2fx: all\r\n":           403,
				"Impersonate-User: jane\r\nImpersonate-Extra-: all\r\n":                       403,
				"Impersonate-User: a\"\\u0000<b>\r\nImpersonate-Uid: 0\r\n":                   403,
				"Impersonate-User: \xff\xfe\r\n":                                              403,
				"Impersonate-User: " + strings.Repeat("x", 8000) + "\r\n":                     403,
				"Impersonate-User: jane\r\n" + strings.Repeat("Impersonate-Group: g\r\n", 90): 403,
				// With unusual capitalization.
				"iMPERSONATE-uSER: admin\r\niMPERSONATE-gROUP: system:masters\r\n": 403,
				"impersonate-user: admin\r\n":                                      403,
				"IMPERSONATE-USER:admin\r\n":                                       403,
				// With no user or two users.
				"Impersonate-Group: system:masters\r\n":                                  400,
				"impersonate-uid: 0\r\n":                                                 400,
				"Impersonate-Extra-Scopes: all\r\n":                                      400,
				"Impersonate-User:\r\n":                                                  400,
				"Impersonate-User: \t \r\nImpersonate-Group: system:masters\r\n":         400,
				"Impersonate-User: jane\r\nImpersonate-User: admin\r\n":                  400,
				"Impersonate-User: jane\r\nimpersonate-user: admin\r\n":                  400,
				"Impersonate-User: jane\r\nImpersonate-Uid: 1\r\nImpersonate-Uid: 2\r\n": 400,
				// With invalid headers.
				"Impersonate-User: a\x7f\x01\r\n":                    400,
				"Impersonate-User : admin\r\n":                       400,
				"Impersonate-User: jane\r\n admin\r\n":               400,
				"Impersonate-User: jane\r\nImpersonate-Us er: a\r\n": 400,
			} {
				if got := ask("GET "+path, credentials+headers); got.code != want {
					t.Errorf("%s with %.120q: %d, want %d: %.300s", path, credentials+headers, got.code, want, got.body)
				}
			}
		}
	}
	// The server checks the credential before the impersonation.
	if got := ask("GET /version", "Authorization: Bearer x\r\nImpersonate-User: admin\r\n"); got.code != 401 {
		t.Errorf("a bad token: %d", got.code)
	}
	// Headers with similar names have no effect.
	for _, headers := range []string{"Impersonate: admin\r\n", "Impersonate-: admin\r\n", "Impersonate-Users: admin\r\n", "Impersonate-Extra: x\r\n", "X-Impersonate-User: admin\r\n", "Impersonate_User: admin\r\n"} {
		if got := ask("GET /version", headers); got.code != 200 {
			t.Errorf("%q: %d", headers, got.code)
		}
		if got := ask("GET /metrics", headers); got.code != 403 || !strings.Contains(got.body, "system:anonymous") {
			t.Errorf("%q: %d %s", headers, got.code, got.body)
		}
	}
}
