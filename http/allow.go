package http

import "strings"

// allow names in a header the methods that the resource of a request has.
func (s *Server) allow(x *exchange) {
	var methods []string
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		i := x.info
		i.Verb = i.resourceVerb(method, i.legacy)
		if _, _, err := i.resolve(method, s.opts.Catalog.Kind); err == nil {
			methods = append(methods, method)
		}
	}
	x.header("Allow", strings.Join(methods, ", "))
}
