package client

import (
	"errors"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/jsonpath"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

type getOptions struct {
	targetFlags
	print                          printer.Options
	view                           printer.TableView
	watch, watchOnly, outputEvents bool
	ignoreNotFound                 bool
	chunk                          int64
	sortBy, raw, subresource       string
	sortPath                       jsonpath.Path
}

func get(f *connectionFlags) *cobra.Command {
	o := &getOptions{}
	c := &cobra.Command{
		Use:   "get TYPE[,TYPE…] [NAME…] | TYPE/NAME… | -f FILE",
		Short: "Show objects as tables or in other formats",
		Example: `  troupe get pods                             in the namespace
  troupe get pods,services -A                 in all namespaces
  troupe get deployment web -o yaml           as YAML
  troupe get pods -l app=web -w               and watch for changes
  troupe get pods -o 'jsonpath={.items[*].metadata.name}'`,
		ValidArgsFunction: f.completeObjects("list"),
	}
	o.addFiles(c)
	o.addSelectors(c)
	flags := c.Flags()
	addOutput(c, &o.print)
	flags.BoolVar(&o.print.ManagedFields, "show-managed-fields", false, "Show managed fields.")
	flags.BoolVar(&o.view.NoHeaders, "no-headers", false, "Do not print headers.")
	flags.BoolVar(&o.view.ShowLabels, "show-labels", false, "Show labels in the last column.")
	flags.BoolVar(&o.view.ShowKind, "show-kind", false, "Show names with their resource type.")
	flags.StringSliceVarP(&o.view.LabelColumns, "label-columns", "L", nil, "Labels to show as columns.")
	flags.BoolVarP(&o.watch, "watch", "w", false, "Watch for changes after listing.")
	flags.BoolVar(&o.watchOnly, "watch-only", false, "Watch for changes without listing first.")
	flags.BoolVar(&o.outputEvents, "output-watch-events", false, "Show the types of watch events: ADDED, MODIFIED, DELETED.")
	flags.BoolVar(&o.ignoreNotFound, "ignore-not-found", false, "Ignore objects that do not exist.")
	flags.Int64Var(&o.chunk, "chunk-size", pageSize, "Page size of lists; 0 disables paging.")
	flags.StringVar(&o.sortBy, "sort-by", "", "Path of a field to sort by, such as .metadata.creationTimestamp.")
	flags.StringVar(&o.raw, "raw", "", "Raw URI path to request from the server.")
	flags.StringVar(&o.subresource, "subresource", "", "Subresource to show: status or scale.")
	c.RunE = f.runWith(o.stdinUse, func(s *session, args []string) error { return s.getObjects(o, args) })
	return c
}

// addOutput adds the flags for output formats.
func addOutput(c *cobra.Command, o *printer.Options) {
	c.Flags().StringVarP(&o.Output, "output", "o", "", "Format: "+strings.Join(printer.Formats(), ", ")+".")
	c.Flags().StringVar(&o.Template, "template", "", "Template or path for formats that need one.")
	must(c.RegisterFlagCompletionFunc("output", fixed(printer.Formats()...)))
}

func (s *session) getObjects(o *getOptions, args []string) error {
	if o.raw != "" {
		return s.showRaw(o.raw)
	}
	var err error
	if o.sortBy != "" {
		if o.sortPath, err = printer.ParsePath(o.sortBy); err != nil {
			return err
		}
	}
	o.print.NoHeaders = o.view.NoHeaders
	o.print.Name = s.nameOf
	if !o.print.IsTable() { // report an unknown format before any request
		if _, err := printer.New(o.print); err != nil {
			return err
		}
	}
	selections, mixed, err := s.selections(&o.targetFlags, args)
	if err != nil {
		return err
	}
	o.view.Wide = o.print.Output == "wide"
	switch {
	case o.watch || o.watchOnly:
		return s.watchObjects(o, selections)
	case o.print.IsTable():
		return s.tables(o, selections, mixed)
	}
	return s.formatted(o, selections)
}

// nameOf returns TYPE/NAME for an object.
func (s *session) nameOf(o tree.Tree) string {
	name := o.Object("metadata").String("name")
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

// tableAccept returns the Accept header for tables, with a fallback to objects.
func (s *session) tableAccept() string {
	naming := meta.Kubernetes
	if s.catalog != nil {
		naming = s.catalog.Naming
	}
	return "application/json;as=Table;v=v1;g=" + naming.Group("meta") + ",application/json"
}

// tables prints one table per type.
func (s *session) tables(o *getOptions, selections []selection, mixed bool) error {
	var faults []error
	printed := false
	for i := 0; i < len(selections); i++ {
		same := []selection{selections[i]}
		for i+1 < len(selections) && selections[i+1].resource == selections[i].resource { // several objects of one type in files
			i++
			same = append(same, selections[i])
		}
		p := &printer.TablePrinter{View: o.view}
		p.View.ShowKind, p.View.Prefix = o.view.ShowKind || mixed, same[0].resource.TypeName()
		p.View.Namespaces = o.everywhere && same[0].resource.Namespaced
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
	if !printed && err == nil && !(o.ignoreNotFound && len(selections) > 0 && len(selections[0].names) > 0) {
		s.nothingFound(o, selections)
	}
	return err
}

// nothingFound reports an empty result on standard error.
func (s *session) nothingFound(o *getOptions, selections []selection) {
	if o.ignoreNotFound {
		return
	}
	if o.everywhere || !slices.ContainsFunc(selections, func(one selection) bool { return one.resource.Namespaced }) {
		s.notef("No resources found\n")
		return
	}
	s.notef("No resources found in %s namespace.\n", s.Namespace)
}

// addTables adds the objects of one selection to a table.
func (s *session) addTables(o *getOptions, one selection, p *printer.TablePrinter) error {
	q := o.query()
	if o.sortBy != "" {
		q.Set("includeObject", "Object")
	}
	if len(one.names) == 0 {
		var whole tree.Tree // collected only for sorting
		err := s.pages(one.resource, one.namespace, q, s.tableAccept(), o.chunk, func(t tree.Tree) error {
			t = asTable(t)
			switch {
			case o.sortBy == "":
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
		answer, err := s.Do(s.ctx, rest.Request{Method: "GET", Path: s.subresourcePath(o, one, name), Accept: s.tableAccept()})
		if rest.IsNotFound(err) && o.ignoreNotFound {
			continue
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		t, err := answer.Tree()
		if err != nil {
			return err
		}
		p.Add(asTable(t), "")
	}
	return errors.Join(faults...)
}

func (s *session) subresourcePath(o *getOptions, one selection, name string) string {
	path := one.resource.Path(one.namespace, name)
	if o.subresource != "" {
		path += "/" + url.PathEscape(o.subresource)
	}
	return path
}

// asTable converts a response of a server without table support.
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
		rows = append(rows, tree.Tree{"cells": []any{one.Object("metadata").String("name"), age(one.Object("metadata").String("creationTimestamp"))}, "object": one})
	}
	return tree.Tree{"rows": rows, "columnDefinitions": []any{tree.Tree{"name": "Name", "format": "name"}, tree.Tree{"name": "Age"}}}
}

// formatted prints objects in a format other than a table. A single named object is printed itself,
// others as a list.
func (s *session) formatted(o *getOptions, selections []selection) error {
	objects, err := s.findAt(&o.targetFlags, selections, o.chunk, func(one selection, name string) string { return s.subresourcePath(o, one, name) }, o.ignoreNotFound)
	if err != nil && len(objects) == 0 {
		return err
	}
	if o.sortBy != "" {
		slices.SortStableFunc(objects, func(a, b object) int {
			x, _ := printer.Lookup(a.tree, o.sortPath)
			y, _ := printer.Lookup(b.tree, o.sortPath)
			return printer.CompareKeys(x, y)
		})
	}
	p, printErr := printer.New(o.print)
	if printErr != nil {
		return printErr
	}
	named := len(selections) == 1 && len(selections[0].names) == 1
	switch {
	case o.print.Output == "name":
		for _, one := range objects {
			s.printf("%s\n", one)
		}
	case named && len(objects) == 0:
	case named:
		printErr = p(s.out, objects[0].tree)
	default:
		printErr = p(s.out, listOf(objects))
	}
	return errors.Join(append(unjoin(err), unjoin(printErr)...)...)
}

func listOf(objects []object) tree.Tree {
	items := make([]any, 0, len(objects))
	for _, one := range objects {
		items = append(items, one.tree)
	}
	return tree.Tree{"apiVersion": "v1", "kind": "List", "metadata": tree.Tree{"resourceVersion": ""}, "items": items}
}

// printAs prints a changed object in the selected format; the default is a line with words.
func (s *session) printAs(o printer.Options, one object, words string) error {
	if o.Output == "" {
		s.printf("%s %s\n", one, words)
		return nil
	}
	if o.Output == "name" {
		s.printf("%s\n", one)
		return nil
	}
	o.Name = s.nameOf
	p, err := printer.New(o)
	if err != nil {
		return err
	}
	return p(s.out, one.tree)
}
