package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
)

type event struct {
	kind   string // ADDED, MODIFIED, DELETED
	object tree.Tree
}

// errStop ends follow without an error when a callback returns it.
var errStop = errors.New("enough")

// follow watches a collection from a resource version, and resumes the watch when the server ends
// it. It returns when the callback fails or ctx ends.
func (s *session) follow(ctx context.Context, r *discovery.Resource, namespace string, query url.Values, accept, from string, each func(event) error) error {
	q := maps.Clone(query)
	if q == nil {
		q = url.Values{}
	}
	q.Set("watch", "true")
	q.Set("allowWatchBookmarks", "true")
	q.Set("resourceVersion", from)
	for {
		began := time.Now()
		err := s.Watch(ctx, r.Path(namespace, ""), q, accept, func(e rest.Event) error {
			o, err := document.Parse(e.Object)
			if err != nil {
				return fmt.Errorf("cannot decode an object of the response: %w", err)
			}
			if version := eventVersion(o); version != "" {
				q.Set("resourceVersion", version)
			}
			if e.Type == "BOOKMARK" {
				return nil
			}
			return each(event{e.Type, o})
		})
		if errors.Is(err, errStop) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := sleep(ctx, time.Until(began.Add(leastWatch))); err != nil {
			return err
		}
	}
}

// leastWatch is the minimum interval between watches, in case the server ends each immediately.
const leastWatch = time.Second

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func eventVersion(o tree.Tree) string {
	if rows := o.Objects("rows"); len(rows) > 0 {
		o = rows[0].Object("object")
	}
	return o.Object("metadata").String("resourceVersion")
}

func (s *session) watchObjects(o *getOptions, selections []selection) error {
	if len(selections) != 1 || len(selections[0].names) > 1 {
		return usageError("watch is only supported on individual resources and resource collections")
	}
	one := selections[0]
	q := o.query()
	if len(one.names) == 1 {
		field := "metadata.name=" + one.names[0]
		if o.FieldSelector != "" {
			field += "," + o.FieldSelector
		}
		q.Set("fieldSelector", field)
	}
	show, err := s.watchPrinter(o, one)
	if err != nil {
		return err
	}
	if len(one.names) == 1 { // a missing object is an error
		if _, err := s.Get(s.ctx, one.resource.Path(one.namespace, one.names[0]), nil); err != nil && !(o.IgnoreNotFound && rest.IsNotFound(err)) {
			return err
		}
	}
	accept := ""
	if o.IsTable() {
		accept = s.tableAccept()
	}
	version := ""
	err = one.resource.Pages(s.ctx, s.Client, one.namespace, q, accept, 0, func(t tree.Tree) error {
		version = t.Object("metadata").String("resourceVersion")
		if o.WatchOnly {
			return nil
		}
		if o.IsTable() {
			return show(event{"ADDED", asTable(t)})
		}
		for _, item := range t.Objects("items") {
			item["apiVersion"], item["kind"] = one.resource.APIVersion(), one.resource.Kind
			if err := show(event{"ADDED", item}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = s.follow(s.ctx, one.resource, one.namespace, q, accept, version, func(e event) error {
		if o.IsTable() {
			e.object = asTable(e.object)
		}
		return show(e)
	})
	if rest.IsExpired(err) {
		return errors.New("the watch has expired; start it again")
	}
	return err
}

func (s *session) watchPrinter(o *getOptions, one selection) (func(event) error, error) {
	if o.IsTable() {
		p := &printer.TablePrinter{View: o.TableView}
		p.View.Prefix, p.View.Events = one.resource.TypeName(), o.OutputWatchEvents
		p.View.Namespaces = o.AllNamespaces && one.resource.Namespaced
		return func(e event) error {
			p.Add(e.object, e.kind)
			return p.Flush(s.out)
		}, nil
	}
	p, err := printer.New(o.Options)
	if err != nil {
		return nil, err
	}
	return func(e event) error {
		t := e.object
		if o.OutputWatchEvents && (strings.HasPrefix(o.Output, "json") || o.Output == "yaml") {
			t = tree.Tree{"type": e.kind, "object": t}
		}
		return p(s.out, t)
	}, nil
}
