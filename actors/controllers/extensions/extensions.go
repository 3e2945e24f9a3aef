package extensions

import "context"

// Servers are the extension API servers.
type Servers interface {
	// Resources returns the served resources, and the versions ("group/version") whose resources
	// are currently unknown.
	Resources() (all []Resource, unknown []string)
	// Do makes a request as a controller, and returns the status code and body of the response. It
	// returns an error without a response.
	Do(ctx context.Context, r Request) (code int, body []byte, err error)
}

// A Resource is a resource of an extension API server.
type Resource struct {
	Group, Version, Name string
	Namespaced           bool
	Verbs                []string
}

// A Request is a request for objects in a version. Path is relative to that of the version.
type Request struct {
	Group, Version      string
	Controller          string // the service account in the system namespace that makes it
	Method, Path, Query string
	Body                []byte // JSON; nil for none
}
