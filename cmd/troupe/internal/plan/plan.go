package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/difference"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/manifest"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/kubeconfig"
)

// Options select the input of Run and the state that it is applied to.
type Options struct {
	Input       manifest.Options
	Definitions manifest.Options // CustomResourceDefinitions that are not part of the report
	// Config of the ephemeral daemon. Its Kubeconfig must be set. Run selects the controllers.
	Config daemon.Config
	// Live reads the initial state from a server. It is nil for none.
	Live *rest.Client
	// Namespace is that of objects without a namespace.
	Namespace            string
	FieldManager         string
	ForceConflicts       bool
	AllowMissingWebhooks bool
	Diff                 bool // compare the objects with the initial state
}

// controllers are those of kube-apiserver. Others would change the initial state, such as garbage
// collection if the owner of an object was not copied.
const controllers daemon.Controllers = "apiserver"

// serviceAccountPlugin needs the service accounts that a controller creates.
const serviceAccountPlugin = "ServiceAccount"

// atOnce is the number of concurrent requests.
const atOnce = 8

type planner struct {
	Options
	*rest.Client
	kinds    *discovery.Catalog
	objects  []*object
	report   *Report
	webhooks *webhooks
}

// Run applies the input to an ephemeral server. An error means that the input could not be checked.
// Invalid input is part of the report.
func Run(ctx context.Context, o Options) (_ *Report, err error) {
	p := &planner{Options: o, report: &Report{Diff: o.Diff}}
	if err := p.read(ctx); err != nil {
		return nil, err
	}
	if len(p.objects) == 0 {
		return p.report, nil
	}
	stop, err := p.start(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := p.applyAll(ctx); err != nil {
		return nil, err
	}
	return p.report, p.webhooks.check(ctx, p)
}

// read reads the input and the definitions. Documents that cannot be parsed become findings.
func (p *planner) read(ctx context.Context) error {
	for _, from := range []struct {
		manifest.Options
		extra bool
	}{{p.Definitions, true}, {p.Input, false}} {
		if !from.IsSet() {
			continue
		}
		manifests, err := manifest.Read(ctx, from.Options)
		for _, m := range manifests {
			if from.extra && m.Object.String("kind") != definitionKind {
				continue
			}
			p.objects = append(p.objects, newObject(m, p.Options.Namespace, from.extra))
		}
		for _, one := range unjoin(err) {
			if !p.report.addUnreadable(one) {
				return one
			}
		}
	}
	seen := map[string]*object{}
	for _, o := range p.objects {
		key := fmt.Sprint(o.APIVersion, o.Kind, o.Namespace, o.Name)
		if first := seen[key]; first != nil && o.Name != "" && !o.extra {
			o.duplicate = true
			o.note(Warning, "Duplicate", "", "the object is declared twice, first at "+first.place())
		}
		seen[key] = o
		if !o.extra {
			p.report.Objects = append(p.report.Objects, o)
		}
	}
	p.report.all = p.objects
	return nil
}

func unjoin(err error) []error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, one := range many.Unwrap() {
			all = append(all, unjoin(one)...)
		}
		return all
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// start starts the daemon with the initial state.
func (p *planner) start(ctx context.Context) (stop func() error, err error) {
	c := p.Config
	c.Ephemeral, c.Serving.SecurePort, c.Controllers = true, 0, controllers
	c.Admission.Disable = append(slices.Clone(c.Admission.Disable), serviceAccountPlugin)
	var live [][]byte
	if p.Live != nil {
		l := &liveReader{Client: p.Live, planner: p}
		if live, err = l.read(ctx); err != nil {
			return nil, err
		}
		c.Naming = l.kinds.Naming.Profile
	}
	d, err := daemon.New(c, nil)
	if err != nil {
		return nil, err
	}
	if p.webhooks, err = newWebhooks(c.Admission.ServiceResolver); err != nil {
		return nil, err
	}
	d.SkipWebhooks(p.webhooks.missing)
	if p.Live != nil {
		d.StartWithObjects(live)
	}
	if err := d.Start(); err != nil {
		return nil, err
	}
	stop = func() error {
		p.Close()
		return d.Stop(context.Background())
	}
	config, err := kubeconfig.Load(c.Kubeconfig)
	if err != nil {
		return nil, errors.Join(err, d.Stop(context.Background()))
	}
	p.Client = rest.New(config, rest.Options{Agent: "troupe-plan", Warnings: io.Discard, MaxIdle: atOnce})
	return stop, nil
}

// applyAll applies the objects rank by rank. Failed objects are applied again at the end, because
// they may need an object of a later rank.
func (p *planner) applyAll(ctx context.Context) (err error) {
	if p.kinds, err = discovery.Load(ctx, p.Client); err != nil {
		return err
	}
	ranks := rankAll(p.objects)
	if p.Config.From == "" && p.Live == nil {
		declared := map[string]bool{}
		for _, o := range p.objects {
			declared[o.Name] = declared[o.Name] || o.Kind == "Namespace"
		}
		if err := p.createNamespaces(ctx, func(o *object) bool { return !declared[o.Namespace] }); err != nil {
			return err
		}
	}
	for rank := range ranks {
		if err := p.applyEach(ctx, ranks[rank]); err != nil {
			return err
		}
		switch rank {
		case definitions:
			if p.kinds, err = discovery.Load(ctx, p.Client); err == nil {
				err = p.checkDefinitions(ctx, ranks[rank])
			}
		case namespaces:
			failed := map[string]bool{}
			for _, o := range ranks[rank] {
				failed[o.Name] = o.failed()
			}
			err = p.createNamespaces(ctx, func(o *object) bool { return failed[o.Namespace] })
		}
		if err != nil {
			return err
		}
	}
	var again []*object
	for _, o := range p.objects {
		if o.retriable {
			again = append(again, o)
		}
	}
	for _, o := range again {
		o.forget()
		if err := p.apply(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) applyEach(ctx context.Context, all []*object) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for _, o := range all {
		g.Go(func() error { return p.apply(ctx, o) })
	}
	return g.Wait()
}

// createNamespaces creates the namespaces of the selected objects that do not exist.
func (p *planner) createNamespaces(ctx context.Context, selects func(*object) bool) error {
	done := map[string]bool{"": true}
	for _, o := range p.objects {
		if r := p.kinds.ForKind("v1", "Namespace"); r != nil && !done[o.Namespace] && selects(o) {
			done[o.Namespace] = true
			body := tree.Tree{"apiVersion": "v1", "kind": "Namespace", "metadata": tree.Tree{"name": o.Namespace}}
			_, err := p.Do(ctx, rest.Request{Method: http.MethodPost, Path: r.Path("", ""), Body: document.JSON(body)})
			if err != nil && !rest.HasCode(err, http.StatusConflict, http.StatusUnprocessableEntity, http.StatusForbidden) {
				return err
			}
		}
	}
	return nil
}

// checkDefinitions reports CustomResourceDefinitions whose kinds are not served, such as those with
// names that are in use.
func (p *planner) checkDefinitions(ctx context.Context, all []*object) error {
	for _, o := range all {
		if o.failed() || o.resource == nil {
			continue
		}
		d, err := p.Get(ctx, o.path(), nil)
		if err != nil {
			return err
		}
		for _, c := range d.Object("status").Objects("conditions") {
			bad := map[string]string{"NamesAccepted": "False", "NonStructuralSchema": "True"}[c.String("type")]
			if c.String("status") == bad {
				o.note(Error, c.String("reason"), "spec.names", c.String("message"))
			}
		}
	}
	return nil
}

// apply applies one object and records the result. It returns an error if the server is out of
// reach.
func (p *planner) apply(ctx context.Context, o *object) error {
	o.resource = p.kinds.ForKind(o.APIVersion, o.Kind)
	switch {
	case o.resource == nil:
		o.note(Error, "NoMatch", "", p.unserved(o))
		return nil
	case o.Name == "" && o.generateName() == "":
		o.note(Error, "Required", "metadata", "metadata.name is required")
		return nil
	case !o.resource.Namespaced:
		o.Namespace = ""
	}
	config := tree.Clone(o.Object).(tree.Tree)
	if o.Namespace != "" {
		config.Object("metadata")["namespace"] = o.Namespace
	}
	var before tree.Tree
	if p.Diff && o.Name != "" {
		var err error
		if before, err = p.Get(ctx, o.path(), nil); err != nil && !rest.IsNotFound(err) {
			return err
		}
	}
	var dropped [][]any
	for {
		answer, err := p.send(ctx, o, config)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			return p.succeeded(o, answer, before)
		}
		var status *rest.StatusError
		if !errors.As(err, &status) {
			return err
		}
		more := o.explain(status, dropped)
		before := len(dropped)
		for _, steps := range more {
			if remove(config, steps) {
				dropped = append(dropped, steps)
			}
		}
		if len(dropped) == before {
			o.retriable = before == 0
			return nil
		}
	}
}

func (p *planner) send(ctx context.Context, o *object, config tree.Tree) (rest.Answer, error) {
	r := rest.Request{
		Method: http.MethodPatch, Path: o.path(), ContentType: rest.ApplyPatch, Body: document.JSON(config),
		Query: url.Values{"fieldManager": {p.FieldManager}, "fieldValidation": {"Strict"}, "force": {strconv.FormatBool(p.ForceConflicts)}},
	}
	if o.Name == "" {
		r.Method, r.ContentType = http.MethodPost, ""
		r.Query.Del("force")
	}
	return p.Do(ctx, r)
}

func (p *planner) succeeded(o *object, answer rest.Answer, before tree.Tree) error {
	for _, text := range answer.Warnings {
		o.note(Warning, "Warning", "", text)
	}
	if o.failed() || !p.Diff { // parts of it have been left out
		return nil
	}
	after, err := answer.Tree()
	if err != nil {
		return err
	}
	switch {
	case before == nil:
		o.Action = Created
	case difference.Same(before, after):
		o.Action = Unchanged
	default:
		o.Action = Changed
		name := o.resource.TypeName() + "/" + o.Name
		o.Diff = difference.Unified(before, after, name+" (now)", name+" (planned)")
	}
	return nil
}

// unserved explains why the server has no resource for an object.
func (p *planner) unserved(o *object) string {
	if o.Kind == "Kustomization" {
		return "this file is a kustomization: build its directory with -k"
	}
	text := fmt.Sprintf("no kind %q in version %q", o.Kind, o.APIVersion)
	for _, d := range p.objects {
		if spec := d.Object.Object("spec"); d.Kind == definitionKind && d.failed() && spec.Object("names").String("kind") == o.Kind {
			return text + ": its CustomResourceDefinition at " + d.place() + " has errors"
		}
	}
	return text + ": add its CustomResourceDefinition to the input, or with --crds"
}

// An Action is the effect of the input on an object.
type Action string

// The actions of a Report. Objects with errors have none.
const (
	Created   Action = "created"
	Changed   Action = "changed"
	Unchanged Action = "unchanged"
)

// An object is one object of the input, with the result of its check.
type object struct {
	File       string `json:"file"`
	Line       int    `json:"line"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name,omitempty"`
	Action     Action `json:"action,omitempty"`
	Diff       string `json:"diff,omitempty"`

	manifest.Manifest `json:"-"`
	extra             bool // of Options.Definitions
	duplicate         bool // of an earlier object
	resource          *discovery.Resource
	retriable         bool
	findings          []Finding
}

func newObject(m manifest.Manifest, namespace string, extra bool) *object {
	metadata := m.Object.EnsureObject("metadata")
	return &object{
		File: m.Source, Line: m.Locate("").Line, APIVersion: m.Object.String("apiVersion"), Kind: m.Object.String("kind"),
		Namespace: cmp.Or(metadata.String("namespace"), namespace), Name: metadata.String("name"), Manifest: m, extra: extra,
	}
}

func (o *object) path() string         { return o.resource.Path(o.Namespace, o.Name) }
func (o *object) place() string        { return fmt.Sprintf("%s:%d", o.File, o.Line) }
func (o *object) generateName() string { return o.Object.Object("metadata").String("generateName") }

// title names the object in reports, such as Deployment web/server.
func (o *object) title() string {
	name := cmp.Or(o.Name, o.generateName()+"*")
	if o.Namespace != "" {
		name = o.Namespace + "/" + name
	}
	return o.Kind + " " + name
}

func (o *object) failed() bool {
	return slices.ContainsFunc(o.findings, func(f Finding) bool { return f.Level == Error })
}

// forget removes the results of the first attempt.
func (o *object) forget() {
	o.retriable = false
	o.findings = slices.DeleteFunc(o.findings, func(f Finding) bool { return f.Rule != "Duplicate" })
}
