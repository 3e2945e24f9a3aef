package daemon

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/policy/authz/node"
	"github.com/troupe-api/troupe/policy/authz/rbac"
	"github.com/troupe-api/troupe/policy/remote"
)

// Authorization modes, named as in kube-apiserver.
const (
	modeNode        = "Node"
	modeABAC        = "ABAC"
	modeRBAC        = "RBAC"
	modeWebhook     = "Webhook"
	modeAlwaysAllow = "AlwaysAllow"
	modeAlwaysDeny  = "AlwaysDeny"
)

// Authorization configures the authorization modes. A request that no mode allows is denied.
type Authorization struct {
	ConfigFile string `flag:"authorization-config"` // replaces Modes and Webhook
	// Modes are consulted in order. The first mode that allows or denies the request decides.
	Modes []string `flag:"authorization-mode"`
	// AlwaysAllowPaths are paths that all users may access. A trailing "*" matches any suffix.
	AlwaysAllowPaths []string `flag:"authorization-always-allow-paths"`
	PolicyFile       string   `flag:"authorization-policy-file"` // of ABAC
	Webhook          AuthorizationWebhook
}

// AuthorizationWebhook configures the Webhook mode.
type AuthorizationWebhook struct {
	ConfigFile           string   `flag:"authorization-webhook-config-file"` // "" disables it
	Version              string   `flag:"authorization-webhook-version"`
	CacheAuthorizedTTL   Duration `flag:"authorization-webhook-cache-authorized-ttl"`
	CacheUnauthorizedTTL Duration `flag:"authorization-webhook-cache-unauthorized-ttl"`
}

// validate rejects the ABAC or Webhook mode without its file, and a file without its mode, which
// would be ignored.
func (a Authorization) validate(f *faults) {
	for i, name := range a.Modes {
		f.check(!slices.Contains(a.Modes[:i], name), "authorization-mode", fmt.Sprintf("%q is duplicate", name))
	}
	checkPaths(f, "authorization-always-allow-paths", a.AlwaysAllowPaths)
	if a.ConfigFile != "" {
		standard := defaults().Authorization
		f.check(slices.Equal(a.Modes, standard.Modes) && a.Webhook == standard.Webhook, "authorization-config",
			"--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined")
		return
	}
	f.check((a.PolicyFile != "") == a.has(modeABAC), "authorization-policy-file", "requires the mode ABAC")
	f.check((a.Webhook.ConfigFile != "") == a.has(modeWebhook), "authorization-webhook-config-file", "requires the mode Webhook")
}

func checkPaths(f *faults, name string, paths []string) {
	for _, path := range paths {
		f.check(strings.HasPrefix(path, "/"), name, fmt.Sprintf("%q does not begin with /", path))
	}
}

func (a Authorization) has(mode string) bool { return slices.Contains(a.Modes, mode) }

func (a Authorization) configuration() tree.Tree {
	var all []any
	for _, mode := range a.Modes {
		t := tree.Tree{"type": mode, "name": strings.ToLower(mode)}
		if mode == modeWebhook {
			w := a.Webhook
			t["name"], t["webhook"] = "default", tree.Tree{
				"authorizedTTL": w.CacheAuthorizedTTL.String(), "cacheAuthorizedRequests": w.CacheAuthorizedTTL != 0,
				"unauthorizedTTL": w.CacheUnauthorizedTTL.String(), "cacheUnauthorizedRequests": w.CacheUnauthorizedTTL != 0,
				"timeout": "30s", "failurePolicy": "NoOpinion", "subjectAccessReviewVersion": w.Version,
				"connectionInfo": tree.Tree{"kubeConfigFile": w.ConfigFile},
			}
		}
		all = append(all, t)
	}
	return tree.Tree{"authorizers": all}
}

func (p *policies) startAuthorizer() (err error) {
	p.modes, p.authorizer, p.authorizerMetrics = map[string]authz.RuleResolver{}, &authz.Current{}, authz.NewMetrics()
	p.authentication.generation.AddSource(func() any {
		if p.remote.Load() {
			return time.Now().Unix()
		}
		return p.authorizer.Load()
	})
	if path := p.config.Authorization.ConfigFile; path != "" {
		p.configMetrics, err = p.followConfig("authorization", path, p.setAuthorizer)
		return err
	}
	return p.setAuthorizer(p.config.Authorization.configuration())
}

// setAuthorizer installs an authorizer that consults the configured authorizers in order. It first
// allows members of system:masters and requests for AlwaysAllowPaths. With AlwaysDeny, only the
// daemon's own administrator counts as a member of system:masters.
//
// After startup, the authorizer types must not change, except for Webhook, AlwaysAllow and
// AlwaysDeny. Connections cache webhook decisions for at most a second. Most repeated checks still
// do not reach a webhook, because its authorizer has its own cache.
func (p *policies) setAuthorizer(config tree.Tree) error {
	first, list := p.authorizer.Load() == nil, config.Objects("authorizers")
	has := func(mode string) bool {
		return slices.ContainsFunc(list, func(c tree.Tree) bool { return c.String("type") == mode })
	}
	for mode := range p.modes {
		if !has(mode) {
			return fmt.Errorf("missing required types: [%s]", mode)
		}
	}
	masters := authz.Masters{}
	if has(modeAlwaysDeny) {
		masters.UserName = p.identity.certificates().Admin.Cert.Subject.CommonName
	}
	all := []authz.Authorizer{masters, authz.AlwaysAllowPaths(p.config.Authorization.AlwaysAllowPaths)}
	for _, c := range list {
		kind, name := c.String("type"), c.String("name")
		mode, err := p.newModeAuthorizer(kind, name, c.Object("webhook"), first)
		if err != nil {
			return err
		}
		if first && kind != modeWebhook {
			p.modes[kind] = mode
		}
		all = append(all, p.authorizerMetrics.Counted(mode, kind, name))
	}
	next := authz.Union(all...)
	p.remote.Store(has(modeWebhook))
	p.authorizer.Store(&next)
	return nil
}

// newModeAuthorizer returns the authorizer of a mode. If the mode's decisions can change over time,
// it also registers a source of changes that invalidates cached decisions.
func (p *policies) newModeAuthorizer(kind, name string, webhook tree.Tree, first bool) (authz.RuleResolver, error) {
	switch mode := p.modes[kind]; {
	case mode != nil:
		return mode, nil
	case kind == modeWebhook:
		return p.newWebhookAuthorizer(name, webhook)
	case kind == modeAlwaysAllow:
		return authz.AlwaysAllow{}, nil
	case kind == modeAlwaysDeny:
		return authz.AlwaysDeny{}, nil
	case !first:
		return nil, fmt.Errorf("authorizer type %s is not allowed if it was not enabled at initial server startup", kind)
	case kind == modeNode:
		return p.newNodeAuthorizer()
	case kind == modeABAC:
		return p.readPolicies(p.config.Authorization.PolicyFile)
	}
	return p.roles, nil
}

// newNodeAuthorizer returns the authorizer of the Node mode. Its decisions depend on the Pods of
// each node, so a change to these Pods invalidates cached decisions.
func (p *policies) newNodeAuthorizer() (authz.RuleResolver, error) {
	mode, err := node.New(p.ctx, p.storage.objects, p.naming)
	if err != nil {
		return nil, err
	}
	p.authentication.generation.AddSource(func() any { return mode.Generation() })
	return mode, nil
}

// readPolicies reads the ABAC policies. Changes to the file require a restart.
func (p *policies) readPolicies(path string) (authz.RuleResolver, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--authorization-policy-file: %w", err)
	}
	defer file.Close()
	policies, err := authz.ParseABAC(file, p.storage.kinds)
	if err != nil {
		return nil, fmt.Errorf("--authorization-policy-file %s: %w", path, err)
	}
	return policies, nil
}

// newWebhookAuthorizer does not contact the webhook, because it may run in this daemon's own
// cluster.
func (p *policies) newWebhookAuthorizer(name string, config tree.Tree) (authz.RuleResolver, error) {
	service, err := remote.Load(config.Object("connectionInfo").String("kubeConfigFile"))
	if err != nil && p.config.Authorization.ConfigFile == "" {
		return nil, fmt.Errorf("--authorization-webhook-config-file: %w", err)
	} else if err != nil {
		return nil, fmt.Errorf("authorization webhook %q: %w", name, err)
	}
	return authz.NewWebhook(authz.WebhookOptions{
		Name: name, Client: service, Config: config, Expressions: p.storage.kinds.Expressions(), Metrics: p.authorizerMetrics,
		Naming: p.naming, Now: time.Now, Logger: p.log,
	}), nil
}

// escalationChecks returns the admission plugin that prevents privilege escalation through roles.
// Any mode may grant the verbs escalate and bind. If a webhook authorizer may be configured, only
// RBAC may, because a change must not wait for a webhook.
func (p *policies) escalationChecks() []admission.Registration {
	var modes authz.Authorizer = p.authorizer
	if p.modes[modeRBAC] == nil {
		return nil
	}
	if p.remote.Load() || p.config.Authorization.ConfigFile != "" {
		modes = p.roles
	}
	return []admission.Registration{rbac.Escalation(p.roles, modes, p.storage.objects)}
}
