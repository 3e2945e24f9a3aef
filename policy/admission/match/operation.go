package match

import (
	"github.com/troupe-api/troupe/kinds/request"
)

// An Operation is what rules call what a request does.
type Operation uint8

// The operations.
const (
	Create Operation = iota
	Update
	Delete
	Connect
	operations // how many there are
)

// String is the operation as rules and reviews have it, as in "CREATE".
func (o Operation) String() string { return [...]string{"CREATE", "UPDATE", "DELETE", "CONNECT"}[o] }

// OperationOf is the operation of a request. A create of a sub-resource, such as a binding, is one although it
// updates an object.
func OperationOf(a *request.Attributes) Operation {
	switch a.Operation {
	case request.OnConnect:
		return Connect
	case request.OnDelete:
		return Delete
	case request.OnCreate:
		return Create
	}
	if CreatesSubresource(a) {
		return Create
	}
	return Update
}

// CreatesSubresource tells whether the request is a create of a sub-resource that updates its object.
func CreatesSubresource(a *request.Attributes) bool {
	return a.Subresource != "" && a.Old != nil && a.Mutation != nil && request.Is[request.Create](a.Mutation)
}
