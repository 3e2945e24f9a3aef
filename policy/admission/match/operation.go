package match

import (
	"github.com/troupe-api/troupe/kinds/request"
)

// An Operation is a request operation that rules can match.
type Operation uint8

const (
	Create Operation = iota
	Update
	Delete
	Connect
	operations // number of operations
)

// String returns the name used in rules and reviews, such as "CREATE".
func (o Operation) String() string { return [...]string{"CREATE", "UPDATE", "DELETE", "CONNECT"}[o] }

// OperationOf returns the operation of a request. Creating a subresource, such as a binding, is a
// Create, although it updates the object.
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

// CreatesSubresource reports whether the request creates a subresource by updating its object.
func CreatesSubresource(a *request.Attributes) bool {
	return a.Subresource != "" && a.Old != nil && a.Mutation != nil && request.Is[request.Create](a.Mutation)
}
