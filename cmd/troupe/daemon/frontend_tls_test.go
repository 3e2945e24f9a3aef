package daemon

import (
	"strings"
	"testing"
)

func TestOriginsMustBeBound(t *testing.T) {
	for text, ok := range map[string]bool{
		`^https://console\.example\.com$`: true,
		`//localhost(:|$)`:                true,
		`//localhost:`:                    true,
		`^https?://([a-z]+\.)?example:`:   true,
		`http://localhost`:                true, // like kube-apiserver, which looks for any colon
		`^https://console\.example\.com`:  true,
		`//console\.example\.com`:         false,
		`^.*\.example\.com`:               false,
		``:                                false,
		`example\.com$`:                   false,
		`.*`:                              false,
		`^(`:                              false,
	} {
		if _, err := parseOrigins([]string{text}); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestDirectivesOfStrictTransport(t *testing.T) {
	for text, ok := range map[string]bool{
		"":                                    true,
		"max-age=31536000":                    true,
		"max-age=0,preload,includeSubDomains": true,
		"includeSubDomains":                   false,
		"max-age=1,max-age=2":                 false,
		"max-age":                             false,
		"max-age=-1":                          false,
		"max-age=1; includeSubDomains":        false,
		"max-age=1,includesubdomains":         false,
		"max-age=1,x\r\nSet-Cookie: a=b":      false,
	} {
		var directives []string
		if text != "" {
			directives = strings.Split(text, ",")
		}
		if err := checkDirectives(directives); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}
