package apiservices

import "context"

// Servers gives access to the extension API servers.
type Servers interface {
	// Resources returns the served resources. unknown lists the versions ("group/version") whose
	// resources are currently unknown.
	Resources() (all []Resource, unknown []string)
	// Do sends a request on behalf of a controller and returns the status code and body of the
	// response. It returns an error only if there is no response.
	Do(ctx context.Context, r Request) (code int, body []byte, err error)
}

// A Resource is a resource that an extension API server serves.
type Resource struct {
	Group, Version, Name string
	Namespaced           bool
	Verbs                []string
}

// Request is a request to a group version's extension API server. Path is relative to the version's
// path.
type Request struct {
	Group, Version      string
	Controller          string // service account in the system namespace that sends the request
	Method, Path, Query string
	Body                []byte // JSON; nil for none
}
