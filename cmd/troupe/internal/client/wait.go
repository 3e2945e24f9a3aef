package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/jsonpath"
	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/tree"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
)

type waitOptions struct {
	targetFlags
	For, Output string
	Timeout     time.Duration
}

type goal struct {
	holds func(tree.Tree) (bool, error) // for an object, nil if there is none
	gone  bool                          // wait for deletion
	made  bool                          // wait for creation
}

func parseGoal(text string) (goal, error) {
	kind, rest, _ := strings.Cut(text, "=")
	switch kind {
	case "delete":
		return goal{gone: true, holds: func(t tree.Tree) (bool, error) { return t == nil, nil }}, nil
	case "create":
		return goal{made: true, holds: func(t tree.Tree) (bool, error) { return t != nil, nil }}, nil
	case "condition":
		name, value, given := strings.Cut(rest, "=")
		if name == "" {
			break
		}
		if !given {
			value = "true"
		}
		return goal{holds: func(t tree.Tree) (bool, error) { return hasCondition(t, name, value), nil }}, nil
	case "jsonpath":
		path, value, valued := cutPath(rest)
		p, err := printer.ParsePath(path)
		if err != nil {
			return goal{}, err
		}
		return goal{holds: func(t tree.Tree) (bool, error) { return hasValue(t, p, value, valued), nil }}, nil
	}
	return goal{}, usageError(fmt.Sprintf("unrecognized condition: %q; --for must be condition=NAME[=VALUE], jsonpath=PATH[=VALUE], create or delete", text))
}

func cutPath(text string) (path, value string, given bool) {
	text = strings.Trim(text, "'")
	if end := strings.LastIndex(text, "}"); strings.HasPrefix(text, "{") && end > 0 {
		rest := strings.TrimPrefix(text[end+1:], "'")
		value, given = strings.CutPrefix(rest, "=")
		return text[:end+1], value, given
	}
	return strings.Cut(text, "=")
}

func hasCondition(t tree.Tree, name, value string) bool {
	for _, c := range t.Object("status").Objects("conditions") {
		if !strings.EqualFold(c.String("type"), name) {
			continue
		}
		seen, isSeen := c.Int("observedGeneration")
		if !isSeen {
			seen, isSeen = t.Object("status").Int("observedGeneration")
		}
		if generation, is := t.Object("metadata").Int("generation"); is && isSeen && seen < generation {
			return false // the condition is outdated
		}
		return strings.EqualFold(c.String("status"), value)
	}
	return false
}

func hasValue(t tree.Tree, p jsonpath.Path, value string, valued bool) bool {
	if t == nil {
		return false
	}
	found := false
	p.Walk(document.JSON(t), func(v jsontext.Value) bool {
		found = !valued && v.Exists() || valued && jsonpath.Text(v) == value
		return !found
	})
	return found
}

func (o *waitOptions) run(s *session, args []string) error {
	g, err := parseGoal(o.For)
	if err != nil {
		return err
	}
	selections, _, err := s.selections(&o.targetFlags, args)
	if err != nil {
		return err
	}
	if err := o.checkNamed(selections); err != nil {
		return err
	}
	timeout := o.Timeout
	if timeout < 0 {
		timeout = 7 * 24 * time.Hour
	}
	ctx, cancel := context.WithTimeout(s.ctx, max(timeout, time.Second))
	defer cancel()
	targets, err := s.targetsOf(&o.targetFlags, selections)
	faults := []error{err}
	for _, t := range targets {
		faults = append(faults, s.waitOne(ctx, o, g, t))
	}
	if len(targets) == 0 && err == nil && !g.gone {
		return errors.New("no matching resources found")
	}
	return errors.Join(faults...)
}

// waitOne waits for one object. The object must exist unless the goal is its creation or deletion.
func (s *session) waitOne(ctx context.Context, o *waitOptions, g goal, one target) error {
	if !g.gone && !g.made {
		if _, err := s.Get(s.ctx, one.path(), nil); err != nil {
			return err
		}
	}
	seen := false
	err := s.until(ctx, one.resource, one.namespace, one.name, func(t tree.Tree) (bool, error) {
		if t == nil && seen && !g.gone {
			return false, &rest.StatusError{Code: 404, Reason: "NotFound", Message: fmt.Sprintf("%s %q not found: it was deleted", one.resource.FullName(), one.name)}
		}
		seen = seen || t != nil
		return g.holds(t)
	})
	if errors.Is(err, context.DeadlineExceeded) && s.ctx.Err() == nil {
		return fmt.Errorf("timed out waiting for the condition on %s/%s", one.resource.Name, one.name)
	}
	if err != nil {
		return err
	}
	if o.Output == "name" {
		s.printf("%s/%s\n", one.resource.TypeName(), one.name)
		return nil
	}
	s.printf("%s/%s condition met\n", one.resource.TypeName(), one.name)
	return nil
}
