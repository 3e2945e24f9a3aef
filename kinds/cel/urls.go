package cel

import (
	"fmt"
	"net/url"

	"cel.dev/cel-go/cel"
)

var urlType = cel.ObjectType("platform.URL")

func urlFunctions() []cel.EnvOption {
	return []cel.EnvOption{
		function("url", "string_to_url", tryUnary(parseURL)),
		function("isURL", "is_url_string", succeeds(url.ParseRequestURI)),
		method("getScheme", "url_get_scheme", unary(func(u *url.URL) string { return u.Scheme })),
		method("getHost", "url_get_host", unary(func(u *url.URL) string { return u.Host })),
		method("getHostname", "url_get_hostname", unary((*url.URL).Hostname)),
		method("getPort", "url_get_port", unary((*url.URL).Port)),
		method("getEscapedPath", "url_get_escaped_path", unary((*url.URL).EscapedPath)),
		method("getQuery", "url_get_query", unary(func(u *url.URL) map[string][]string { return u.Query() })),
	}
}

// parseURL parses an absolute URL or path. It rejects relative references, which have no fixed
// meaning in an object. It parses s twice, because only url.ParseRequestURI rejects relative
// references and only url.Parse handles fragments.
func parseURL(s string) (*url.URL, error) {
	u, err := url.ParseRequestURI(s)
	if err == nil {
		u, err = url.Parse(s)
	}
	if err != nil {
		return nil, fmt.Errorf("URL parse error during conversion from string: %w", err)
	}
	return u, nil
}
