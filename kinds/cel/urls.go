package cel

import (
	"net/url"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

var urlType = cel.ObjectType("platform.URL")

func urlFunctions() []cel.EnvOption {
	texts := []*cel.Type{cel.StringType}
	options := []cel.EnvOption{
		cel.Function("url", cel.Overload("string_to_url", texts, urlType, cel.UnaryBinding(unary(newURL)))),
		cel.Function("isURL", cel.Overload("is_url_string", texts, cel.BoolType, cel.UnaryBinding(unary(func(s string) ref.Val {
			_, err := url.ParseRequestURI(s)
			return types.Bool(err == nil)
		})))),
		cel.Function("getQuery", cel.MemberOverload("url_get_query", []*cel.Type{urlType},
			cel.MapType(cel.StringType, cel.ListType(cel.StringType)), cel.UnaryBinding(unary(func(u *url.URL) ref.Val {
				query := map[ref.Val]ref.Val{}
				for name, values := range u.Query() {
					query[types.String(name)] = types.NewStringList(types.DefaultTypeAdapter, values)
				}
				return types.NewRefValMap(types.DefaultTypeAdapter, query)
			})))),
	}
	for _, part := range []struct {
		function, id string
		of           func(u *url.URL) string
	}{
		{"getScheme", "url_get_scheme", func(u *url.URL) string { return u.Scheme }},
		{"getHost", "url_get_host", func(u *url.URL) string { return u.Host }},
		{"getHostname", "url_get_hostname", (*url.URL).Hostname},
		{"getPort", "url_get_port", (*url.URL).Port},
		{"getEscapedPath", "url_get_escaped_path", (*url.URL).EscapedPath},
	} {
		options = append(options, cel.Function(part.function, cel.MemberOverload(part.id, []*cel.Type{urlType}, cel.StringType,
			cel.UnaryBinding(unary(func(u *url.URL) ref.Val { return types.String(part.of(u)) })))))
	}
	return options
}

// newURL returns the CEL value of an absolute URL or path. It rejects relative references, because
// they have no fixed meaning in an object. It parses s twice, because only url.ParseRequestURI
// rejects relative references and only url.Parse handles fragments.
func newURL(s string) ref.Val {
	_, err := url.ParseRequestURI(s)
	if err != nil {
		return types.NewErr("URL parse error during conversion from string: %v", err)
	}
	u, err := url.Parse(s)
	if err != nil {
		return types.NewErr("URL parse error during conversion from string: %v", err)
	}
	return opaque[*url.URL]{urlType, "URL", u, func(a, b *url.URL) bool { return a.String() == b.String() }, (*url.URL).String}
}
