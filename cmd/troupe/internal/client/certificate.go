package client

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A decision holds the options for approving or denying certificate signing requests. A denied
// request cannot be approved, nor an approved request denied.
type decision struct {
	targetFlags
	printer.Options
	Force                  bool
	verb, condition, other string
}

func (o *decision) run(s *session, args []string) error {
	r, err := s.own("certificates", "certificatesigningrequests")
	if err != nil {
		return err
	}
	var selections []selection
	if o.IsSet() {
		if selections, _, err = s.fromFiles(&o.targetFlags); err != nil {
			return err
		}
	} else if len(args) == 0 {
		return usageError("one or more CSRs must be specified as <name> or -f <file>")
	}
	for _, name := range args {
		selections = append(selections, selection{resource: r, names: []string{name}})
	}
	var faults []error
	for _, one := range selections {
		if one.resource != r {
			faults = append(faults, usageError("can only handle certificate signing requests"))
			continue
		}
		t, err := s.decideOne(one, o)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		if err := s.printAs(o.Options, object{resource: r, tree: t}, strings.ToLower(o.condition)); err != nil {
			return err
		}
	}
	return errors.Join(faults...)
}

// decideOne sets the condition of one request. It retries after conflicts.
func (s *session) decideOne(one selection, o *decision) (tree.Tree, error) {
	path := one.resource.Path("", one.names[0])
	for attempts := 0; ; attempts++ {
		t, err := s.Get(s.ctx, path, nil)
		if err != nil {
			return nil, err
		}
		for _, c := range t.Object("status").Objects("conditions") {
			switch kind := c.String("type"); {
			case kind == o.condition && !o.Force:
				return t, nil
			case kind == o.other:
				return nil, errors.New("certificate signing request " + one.names[0] + " is already " + strings.ToLower(o.other))
			}
		}
		status := t.EnsureObject("status")
		others := slices.DeleteFunc(status.Objects("conditions"), func(c tree.Tree) bool { return c.String("type") == o.condition })
		status["conditions"] = append(tree.ListOf(others), tree.Tree{
			"type": o.condition, "status": "True", "reason": "Troupe" + strings.ToUpper(o.verb[:1]) + o.verb[1:],
			"message": "This CSR was " + strings.ToLower(o.condition) + " by troupe certificate " + o.verb + ".", "lastUpdateTime": time.Now().UTC().Format(time.RFC3339),
		})
		t, err = s.tree(s.ctx, rest.Request{Method: http.MethodPut, Path: path + "/approval", Body: document.JSON(t)})
		if !rest.IsConflict(err) || attempts >= 10 {
			return t, err
		}
	}
}
