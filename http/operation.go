package http

import (
	"context"
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/params"
	"github.com/troupe-api/troupe/http/internal/represent"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
)

// An Operation handles a create that does not store its body as an object, such as a review or an
// eviction. Every error is a *meta.Status.
type Operation struct {
	// Complete, if set, validates and defaults the body between mutating and validating admission.
	Complete func(c OperationRequest) error
	// Answer executes the operation. It returns the resulting object, or nil to respond with a
	// Status.
	Answer func(ctx context.Context, c OperationRequest) (tree.Tree, error)
}

// An OperationRequest is the input of an Operation. Object is the decoded body. The name in Key
// is from the path or, for a collection, from the body.
type OperationRequest struct {
	User   *authn.User
	Kind   *schema.Kind // of Object
	Key    meta.Key
	Object tree.Tree
	DryRun bool
	// Manager is the field manager of the request.
	Manager string
	// Warn adds a Warning header to the response.
	Warn func(text string)
	// Annotate adds an annotation to the audit event.
	Annotate func(key, value string)
}

// operationKey identifies the kind and subresource that an Operation or a Reader handles.
// subresource is "" for the resource itself.
type operationKey struct {
	kind        *schema.Kind
	subresource string
}

// resolve returns byName with its keys resolved to kinds. A key is "group/version/resource" or
// "group/version/resource/subresource", in platform form. It skips kinds that are not served.
func resolve[T any](s *Server, byName map[string]T) (map[operationKey]T, error) {
	found := make(map[operationKey]T, len(byName))
	for name, value := range byName {
		parts := strings.Split(name, "/")
		if len(parts) < 3 || len(parts) > 4 {
			return nil, fmt.Errorf("%q is not named group/version/resource", name)
		}
		key := operationKey{kind: s.opts.Catalog.Kind(s.opts.Naming.Translate(parts[0]), parts[1], parts[2])}
		if len(parts) == 4 {
			key.subresource = parts[3]
		}
		if key.kind != nil {
			found[key] = value
		}
	}
	return found, nil
}

// runOperation runs an operation and responds with 201 and the result. The result is never a Table,
// so a client that accepts only tables gets an error.
func (s *Server) runOperation(x *requestContext, operation Operation) error {
	if x.format.Shape == negotiate.Table {
		var err error
		if x.format, err = s.names.Negotiate(x.acceptHeader(), negotiate.Documents); err != nil {
			return err
		}
	}
	if err := represent.CheckShape(x.bodyKind, x.format, x.target.Query); err != nil {
		return err
	}
	o, err := params.ParseWrite(s.names.MetaGroup, "CreateOptions", x.target.Query, x.ctx.UserAgent())
	if err != nil {
		return err
	}
	tree, warnings, err := s.decodeObject(x, o.Validation)
	if err != nil {
		return err
	}
	m := s.newMutation(x, request.Create{}, o)
	if err := x.matchBodyToPath(&m, tree); err != nil {
		return err
	}
	asked := OperationRequest{
		User: x.attributes.User, Kind: x.bodyKind, Key: m.Key, Object: tree, DryRun: o.DryRun, Manager: o.FieldManager,
		Warn:     func(text string) { warnings = append(warnings, text) },
		Annotate: x.annotate,
	}
	defer func() { x.addWarnings(warnings) }()
	reserved, err := m.AdmitOperation(x.deadlineCtx, tree, func() error {
		if err := x.matchBodyToPath(&m, tree); err != nil { // admission may rename the object
			return err
		}
		asked.Key = m.Key
		if operation.Complete == nil {
			return nil
		}
		return operation.Complete(asked)
	})
	x.addRecorded(m.Recorder)
	if err != nil {
		return err
	}
	done := false
	defer func() {
		if done && !o.DryRun {
			reserved.Commit()
		} else {
			reserved.Release()
		}
	}()
	result, err := operation.Answer(x.deadlineCtx, asked)
	if err != nil {
		return err
	}
	done = true
	x.ctx.SetStatusCode(201)
	if result == nil {
		s.writeStatus(x, &meta.Status{Code: 201, Success: true})
		return nil
	}
	encoded := codec.EncodeJSON(x.bodyKind, result)
	return s.writeObject(x, &meta.Object{Key: m.Key, JSON: encoded.Unversioned(), ItemOffset: x.bodyKind.ItemOffset()})
}
