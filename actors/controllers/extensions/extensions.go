package extensions

import "context"

// Servers are the servers that extend the API, as controllers need them.
type Servers interface {
	// Resources are what these servers serve, and the versions ("group/version") of which that is not known now.
	Resources() (all []Resource, unknown []string)
	// Do makes a request as a controller, and returns the code and the body of the answer; an error says that there is none.
	Do(ctx context.Context, r Request) (code int, body []byte, err error)
}

// A Resource is a resource of such a server.
type Resource struct {
	Group, Version, Name string
	Namespaced           bool
	Verbs                []string
}

// A Request is a request for objects in a version. Path is what follows that of the version.
type Request struct {
	Group, Version      string
	Controller          string // the service account in the namespace of the system as which it is made
	Method, Path, Query string
	Body                []byte // JSON; nil: none
}
