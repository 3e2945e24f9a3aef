package client

import (
	"errors"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/manifest"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/jsonpath"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/table"
	"github.com/troupe-api/troupe/kinds/tree"
)

type getOptions struct {
	targetFlags
	printer.Options
	printer.TableView
	Watch, WatchOnly, OutputWatchEvents, IgnoreNotFound, NoHeaders bool
	ChunkSize                                                      int64
	SortBy, Raw, Subresource, At                                   string
	sortPath                                                       jsonpath.Path
}

func (o *getOptions) run(s *session, args []string) error {
	if o.Raw != "" {
		return s.showRaw(o.Raw)
	}
	var err error
	if o.SortBy != "" {
		if o.sortPath, err = printer.ParsePath(o.SortBy); err != nil {
			return err
		}
	}
	if o.past, err = pastQuery(o.At); err != nil {
		return err
	}
	if o.At != "" && (o.Watch || o.WatchOnly) {
		return usageError("--at cannot be combined with --watch or --watch-only")
	}
	o.Options.NoHeaders, o.TableView.NoHeaders = o.NoHeaders, o.NoHeaders
	o.Options.Name = s.nameOf
	if !o.IsTable() { // report an unknown format before any request
		if _, err := printer.New(o.Options); err != nil {
			return err
		}
	}
	selections, mixed, err := s.selections(&o.targetFlags, args)
	if err != nil {
		return err
	}
	o.Wide = o.Output == "wide"
	switch {
	case o.Watch || o.WatchOnly:
		return s.watchObjects(o, selections)
	case o.IsTable():
		return s.tables(o, selections, mixed)
	}
	return s.formatted(o, selections)
}

func (s *session) nameOf(o tree.Tree) string {
	name := o.Name()
	if c, err := s.served(); err == nil {
		if r := c.ForKind(o.String("apiVersion"), o.String("kind")); r != nil {
			return r.TypeName() + "/" + name
		}
	}
	return strings.ToLower(o.String("kind")) + "/" + name
}

func (s *session) showRaw(path string) error {
	where, err := url.Parse(path)
	if err != nil || !strings.HasPrefix(path, "/") {
		return usageError("--raw must be a path that begins with a slash, such as /healthz")
	}
	answer, err := s.Stream(s.ctx, rest.Request{Method: "GET", Path: where.EscapedPath(), Query: where.Query(), Accept: "application/json, */*"})
	if err != nil {
		return err
	}
	defer answer.Close()
	_, err = io.Copy(s.out, answer)
	return err
}

func (s *session) tableAccept() string {
	naming := meta.Kubernetes
	if s.catalog != nil {
		naming = s.catalog.Naming
	}
	return "application/json;as=Table;v=v1;g=" + naming.Group("meta") + ",application/json"
}

func (s *session) tables(o *getOptions, selections []selection, mixed bool) error {
	var faults []error
	printed := false
	for i := 0; i < len(selections); i++ {
		same := []selection{selections[i]}
		for i+1 < len(selections) && selections[i+1].resource == selections[i].resource { // several objects of one type in files
			i++
			same = append(same, selections[i])
		}
		p := &printer.TablePrinter{View: o.TableView}
		p.View.ShowKind, p.View.Prefix = o.ShowKind || mixed, same[0].resource.TypeName()
		p.View.Namespaces = o.AllNamespaces && same[0].resource.Namespaced
		for _, one := range same {
			if err := s.addTables(o, one, p); err != nil {
				faults = append(faults, err)
			}
		}
		if p.Empty() {
			continue
		}
		if printed {
			s.printf("\n")
		}
		printed = true
		if err := p.Flush(s.out); err != nil {
			return err
		}
	}
	err := errors.Join(faults...)
	if !printed && err == nil && !(o.IgnoreNotFound && len(selections) > 0 && len(selections[0].names) > 0) {
		s.nothingFound(o, selections)
	}
	return err
}

func (s *session) nothingFound(o *getOptions, selections []selection) {
	if o.IgnoreNotFound {
		return
	}
	if o.AllNamespaces || !slices.ContainsFunc(selections, func(one selection) bool { return one.resource.Namespaced }) {
		s.notef("No resources found\n")
		return
	}
	s.notef("No resources found in %s namespace.\n", s.Namespace)
}

func (s *session) addTables(o *getOptions, one selection, p *printer.TablePrinter) error {
	q := o.query()
	if o.SortBy != "" {
		q.Set("includeObject", "Object")
	}
	if len(one.names) == 0 {
		var whole tree.Tree // collected only for sorting
		err := one.resource.Pages(s.ctx, s.Client, one.namespace, q, s.tableAccept(), o.ChunkSize, func(t tree.Tree) error {
			t = asTable(t)
			switch {
			case o.SortBy == "":
				p.Add(t, "")
			case whole == nil:
				whole = t
			default:
				whole["rows"] = append(whole.List("rows"), t.List("rows")...)
			}
			return nil
		})
		if whole != nil {
			printer.SortRows(whole, func(row tree.Tree) string { key, _ := printer.Lookup(row.Object("object"), o.sortPath); return key })
			p.Add(whole, "")
		}
		return err
	}
	var faults []error
	for _, name := range one.names {
		t, err := s.tree(s.ctx, rest.Request{Method: "GET", Path: s.subresourcePath(o, one, name), Query: o.past, Accept: s.tableAccept()})
		if rest.IsNotFound(err) && o.IgnoreNotFound {
			continue
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		p.Add(asTable(t), "")
	}
	return errors.Join(faults...)
}

func (s *session) subresourcePath(o *getOptions, one selection, name string) string {
	path := one.resource.Path(one.namespace, name)
	if o.Subresource != "" {
		path += "/" + url.PathEscape(o.Subresource)
	}
	return path
}

func asTable(t tree.Tree) tree.Tree {
	if t.String("kind") == "Table" {
		return t
	}
	objects := []tree.Tree{t}
	if t.Has("items") {
		objects = t.Objects("items")
	}
	rows := []any{}
	for _, one := range objects {
		rows = append(rows, tree.Tree{"cells": []any{one.Name(), table.Age(one.Object("metadata").String("creationTimestamp"), time.Now())}, "object": one})
	}
	return tree.Tree{"rows": rows, "columnDefinitions": []any{tree.Tree{"name": "Name", "format": "name"}, tree.Tree{"name": "Age"}}}
}

// formatted prints objects in a format other than a table. It prints several objects, or any list
// result, as a List.
func (s *session) formatted(o *getOptions, selections []selection) error {
	objects, err := s.findAt(&o.targetFlags, selections, o.ChunkSize, func(one selection, name string) string { return s.subresourcePath(o, one, name) }, o.IgnoreNotFound)
	if err != nil && len(objects) == 0 {
		return err
	}
	if o.SortBy != "" {
		slices.SortStableFunc(objects, func(a, b object) int {
			x, _ := printer.Lookup(a.tree, o.sortPath)
			y, _ := printer.Lookup(b.tree, o.sortPath)
			return printer.CompareKeys(x, y)
		})
	}
	p, printErr := printer.New(o.Options)
	if printErr != nil {
		return printErr
	}
	named := len(selections) == 1 && len(selections[0].names) == 1
	switch {
	case o.Output == "name":
		for _, one := range objects {
			s.printf("%s\n", one)
		}
	case named && len(objects) == 0:
	case named:
		printErr = p(s.out, objects[0].tree)
	default:
		printErr = p(s.out, listOf(objects))
	}
	return errors.Join(append(manifest.Unjoin(err), manifest.Unjoin(printErr)...)...)
}

func listOf(objects []object) tree.Tree {
	items := make([]any, 0, len(objects))
	for _, one := range objects {
		items = append(items, one.tree)
	}
	return tree.Tree{"apiVersion": "v1", "kind": "List", "metadata": tree.Tree{"resourceVersion": ""}, "items": items}
}

// printAs prints a changed object in the selected format. The default is the object's name followed
// by words, such as "pod/a created".
func (s *session) printAs(o printer.Options, one object, words string) error {
	if o.Output == "" {
		s.printf("%s %s\n", one, words)
		return nil
	}
	if o.Output == "name" {
		s.printf("%s\n", one)
		return nil
	}
	return s.print(o, one.tree)
}

func (s *session) print(o printer.Options, t tree.Tree) error {
	o.Name = s.nameOf
	p, err := printer.New(o)
	if err != nil {
		return err
	}
	return p(s.out, t)
}
