package http

import "strings"

// setAllowHeader names in a header the methods that the resource of a request has.
func (s *Server) setAllowHeader(x *requestContext) {
	var methods []string
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		i := x.info.WithMethod(method)
		if _, _, err := i.Resolve(method, s.opts.Catalog.Kind); err == nil {
			methods = append(methods, method)
		}
	}
	x.setHeader("Allow", strings.Join(methods, ", "))
}
