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
	"sync"

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

// Options select the input of Run and the initial state to which it is applied.
type Options struct {
	manifest.Options
	CRDs []string // files and directories of CustomResourceDefinitions that are not part of the report
	// Config configures the ephemeral daemon. Its Kubeconfig must be set. Run selects the
	// controllers.
	Config daemon.Config
	// Live is the server from which the initial state is read, or nil.
	Live *rest.Client
	// Namespace is the default namespace of objects.
	Namespace            string
	FieldManager         string
	ForceConflicts       bool
	AllowMissingWebhooks bool
	Diff                 bool // compare the objects with the initial state
}

const atOnce = 8

type planner struct {
	Options
	*rest.Client
	*Report
	kinds     *discovery.Catalog
	addresses sync.Map // functions that connect to webhooks once, by address
}

// Run applies the input to an ephemeral server. It reports invalid input in the Report, and returns
// an error only if it could not check the input.
func Run(ctx context.Context, o Options) (_ *Report, err error) {
	p := &planner{Options: o, Report: &Report{diff: o.Diff}}
	if err := p.read(ctx); err != nil || len(p.all) == 0 {
		return p.Report, err
	}
	d, err := p.newDaemon(ctx)
	if err != nil {
		return nil, err
	}
	if err := d.Start(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Stop(context.Background())) }()
	config, err := kubeconfig.Load(p.Config.Kubeconfig)
	if err != nil {
		return nil, err
	}
	p.Client = rest.New(config, rest.Options{Agent: "troupe-plan", Warnings: io.Discard, MaxIdle: atOnce})
	defer p.Close()
	if err := p.applyAll(ctx); err != nil {
		return nil, err
	}
	return p.Report, p.checkWebhooks(ctx)
}

// read reads the input and the CRDs. Documents that cannot be parsed become findings.
func (p *planner) read(ctx context.Context) error {
	seen := map[reference]*object{}
	for i, from := range []manifest.Options{{Filename: p.CRDs, Recursive: true}, p.Options.Options} {
		manifests, err := manifest.Read(ctx, from)
		for _, m := range manifests {
			o := newObject(m, p.Options.Namespace)
			if o.extra = i == 0; !o.extra {
				p.input = append(p.input, o)
			} else if o.Kind != definitionKind {
				continue
			}
			p.all = append(p.all, o)
			if first := seen[o.reference]; first != nil && o.Name != "" && !o.extra {
				o.duplicate = true
				o.note(levelWarning, "Duplicate", "", "the object is declared twice, first at "+first.place())
			}
			seen[o.reference] = o
		}
		for _, one := range manifest.Unjoin(err) {
			if !p.addUnreadable(one) {
				return one
			}
		}
	}
	return nil
}

// NewServer returns a server on a free port that starts with objects of another server, or empty if
// objects is nil. It runs only kube-apiserver's controllers, because others would change the
// initial state. For example, garbage collection would delete objects whose owners were not copied.
func NewServer(c daemon.Config, objects [][]byte) (*daemon.Daemon, error) {
	c.Serving.SecurePort, c.Controllers = 0, "apiserver"
	c.Admission.Disable = append(slices.Clone(c.Admission.Disable), "ServiceAccount") // needs objects that a controller creates
	d, err := daemon.New(c, nil)
	if err == nil && objects != nil {
		d.StartWithObjects(objects)
	}
	return d, err
}

func (p *planner) newDaemon(ctx context.Context) (_ *daemon.Daemon, err error) {
	var live [][]byte
	if p.Live != nil {
		if live, err = p.readLive(ctx); err != nil {
			return nil, err
		}
	}
	d, err := NewServer(p.Config, live)
	if err != nil {
		return nil, err
	}
	d.SkipWebhooks(func(clientConfig tree.Tree) bool { return p.webhookFault(clientConfig) != nil })
	return d, nil
}

// applyAll applies the objects rank by rank. It retries failed objects at the end, because they may
// need an object of a later rank.
func (p *planner) applyAll(ctx context.Context) (err error) {
	if p.kinds, err = discovery.Load(ctx, p.Client); err != nil {
		return err
	}
	if p.Config.From == "" && p.Live == nil {
		declared := map[string]bool{}
		for _, o := range p.all {
			declared[o.Name] = declared[o.Name] || o.Kind == "Namespace"
		}
		if err := p.createNamespaces(ctx, func(name string) bool { return !declared[name] }); err != nil {
			return err
		}
	}
	for rank, objects := range rankAll(p.all) {
		g, applyCtx := errgroup.WithContext(ctx)
		g.SetLimit(atOnce)
		for _, o := range objects {
			g.Go(func() error { return p.apply(applyCtx, o) })
		}
		if err := g.Wait(); err != nil {
			return err
		}
		switch rank {
		case definitions:
			if p.kinds, err = discovery.Load(ctx, p.Client); err == nil {
				err = p.checkDefinitions(ctx, objects)
			}
		case namespaces:
			failed := map[string]bool{}
			for _, o := range objects {
				failed[o.Name] = o.failed()
			}
			err = p.createNamespaces(ctx, func(name string) bool { return failed[name] })
		}
		if err != nil {
			return err
		}
	}
	for _, o := range p.all {
		if o.retriable {
			o.retriable = false
			o.findings = slices.DeleteFunc(o.findings, func(f Finding) bool { return f.Rule != "Duplicate" })
			if err := p.apply(ctx, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// createNamespaces creates the selected namespaces that objects need but that do not exist.
func (p *planner) createNamespaces(ctx context.Context, selects func(name string) bool) error {
	done := map[string]bool{"": true}
	for _, o := range p.all {
		if done[o.Namespace] || !selects(o.Namespace) {
			continue
		}
		done[o.Namespace] = true
		body := tree.Tree{"apiVersion": "v1", "kind": "Namespace", "metadata": tree.Tree{"name": o.Namespace}}
		_, err := p.Do(ctx, rest.Request{Method: http.MethodPost, Path: "/api/v1/namespaces", Body: document.JSON(body)})
		if err != nil && !rest.HasCode(err, http.StatusConflict, http.StatusUnprocessableEntity, http.StatusForbidden) {
			return err
		}
	}
	return nil
}

// checkDefinitions reports CustomResourceDefinitions whose kinds are not served, for example
// because of a name conflict.
func (p *planner) checkDefinitions(ctx context.Context, all []*object) error {
	for _, o := range all {
		if o.failed() {
			continue
		}
		d, err := p.Get(ctx, o.path(), nil)
		if err != nil {
			return err
		}
		for _, c := range d.Object("status").Objects("conditions") {
			bad := map[string]string{"NamesAccepted": "False", "NonStructuralSchema": "True"}[c.String("type")]
			if c.String("status") == bad {
				o.note(levelError, c.String("reason"), "spec.names", c.String("message"))
			}
		}
	}
	return nil
}

// apply applies one object and records the result. It fails if the server is unreachable.
func (p *planner) apply(ctx context.Context, o *object) (err error) {
	o.resource = p.kinds.ForKind(o.APIVersion, o.Kind)
	switch {
	case o.resource == nil:
		o.note(levelError, "NoMatch", "", p.unserved(o))
		return nil
	case o.Name == "" && o.generateName() == "":
		o.note(levelError, "Required", "metadata", "metadata.name is required")
		return nil
	case !o.resource.Namespaced:
		o.Namespace = ""
	}
	config := o.Object.Copy()
	if o.Namespace != "" {
		config.Object("metadata")["namespace"] = o.Namespace
	}
	var before tree.Tree
	if p.Diff && o.Name != "" {
		if before, err = p.Get(ctx, o.path(), nil); err != nil && !rest.IsNotFound(err) {
			return err
		}
	}
	var dropped [][]any
	for {
		answer, err := p.send(ctx, o, config)
		status, isStatus := errors.AsType[*rest.StatusError](err)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			return p.succeeded(o, answer, before)
		case !isStatus:
			return err
		}
		known := len(dropped)
		for _, steps := range o.explain(status, dropped) {
			if remove(config, steps) {
				dropped = append(dropped, steps)
			}
		}
		if len(dropped) == known {
			o.retriable = known == 0
			return nil
		}
	}
}

func (p *planner) send(ctx context.Context, o *object, config tree.Tree) (rest.Answer, error) {
	r := rest.Request{
		Method: http.MethodPost, Path: o.path(), Body: document.JSON(config),
		Query: url.Values{"fieldManager": {p.FieldManager}, "fieldValidation": {"Strict"}},
	}
	if o.Name != "" {
		r.Method, r.ContentType = http.MethodPatch, rest.ApplyPatch
		r.Query.Set("force", strconv.FormatBool(p.ForceConflicts))
	}
	return p.Do(ctx, r)
}

func (p *planner) succeeded(o *object, answer rest.Answer, before tree.Tree) error {
	for _, text := range answer.Warnings {
		if !o.extra {
			o.note(levelWarning, "Warning", "", text)
		}
	}
	if o.failed() || !p.Diff || o.extra { // parts of a failed object have been left out
		return nil
	}
	after, err := answer.Tree()
	if err != nil {
		return err
	}
	switch {
	case before == nil:
		o.Action = "created"
	case difference.Same(before, after):
		o.Action = unchanged
	default:
		o.Action = "changed"
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
	for _, d := range p.all {
		if d.Kind == definitionKind && d.failed() && d.Object.Object("spec", "names").String("kind") == o.Kind {
			return text + ": its CustomResourceDefinition at " + d.place() + " has errors"
		}
	}
	return text + ": " + cmp.Or(p.kinds.Advice(o.APIVersion, o.Kind), "add its CustomResourceDefinition to the input, or with --crds")
}

const unchanged = "unchanged"

type reference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name,omitempty"`
}

// An object is an object of the input and the result of its check.
type object struct {
	File string `json:"file"`
	Line int    `json:"line"`
	reference
	Action string `json:"action,omitempty"` // created, changed or unchanged; "" after an error
	Diff   string `json:"diff,omitempty"`

	manifest.Manifest `json:"-"`
	extra             bool // comes from Options.CRDs
	duplicate         bool // repeats an earlier object
	resource          *discovery.Resource
	retriable         bool
	findings          []Finding
}

func newObject(m manifest.Manifest, namespace string) *object {
	metadata := m.Object.EnsureObject("metadata")
	namespace = cmp.Or(metadata.String("namespace"), namespace)
	return &object{
		File: m.Source, Line: m.Locate("").Line, Manifest: m,
		reference: reference{m.Object.String("apiVersion"), m.Object.String("kind"), namespace, metadata.String("name")},
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
	return slices.ContainsFunc(o.findings, func(f Finding) bool { return f.Level == levelError })
}
