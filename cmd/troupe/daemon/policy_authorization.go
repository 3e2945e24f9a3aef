package daemon

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

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
	// Modes are consulted in this order. The first mode that allows or denies the request decides.
	Modes []string `flag:"authorization-mode"`
	// AlwaysAllowPaths are paths that all users may access. A trailing "*" makes a path a prefix.
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

// validate requires that the ABAC and Webhook modes are set together with their files. Otherwise a
// disabled mode's file would be ignored.
func (a Authorization) validate(f *faults) {
	for i, name := range a.Modes {
		f.check(!slices.Contains(a.Modes[:i], name), "authorization-mode", fmt.Sprintf("%q is duplicate", name))
	}
	checkPaths(f, "authorization-always-allow-paths", a.AlwaysAllowPaths)
	f.check((a.PolicyFile != "") == a.has(modeABAC), "authorization-policy-file", "requires the mode ABAC")
	f.check((a.Webhook.ConfigFile != "") == a.has(modeWebhook), "authorization-webhook-config-file", "requires the mode Webhook")
}

func checkPaths(f *faults, name string, paths []string) {
	for _, path := range paths {
		f.check(strings.HasPrefix(path, "/"), name, fmt.Sprintf("%q does not begin with /", path))
	}
}

func (a Authorization) has(mode string) bool { return slices.Contains(a.Modes, mode) }

// newAuthorizer returns an authorizer that consults the configured modes in order. Members of
// system:masters and requests for AlwaysAllowPaths are allowed before any mode is consulted. With
// AlwaysDeny, only the daemon's own administrator counts as a member of system:masters.
func (p *policies) newAuthorizer(roles *rbac.Authorizer) (authz.Authorizer, error) {
	c := p.config.Authorization
	masters := authz.Masters{}
	if c.has(modeAlwaysDeny) {
		masters.UserName = p.identity.certificates().Admin.Cert.Subject.CommonName
	}
	all := []authz.Authorizer{masters, authz.AlwaysAllowPaths(c.AlwaysAllowPaths)}
	for _, name := range c.Modes {
		mode, err := p.newModeAuthorizer(name, roles)
		if err != nil {
			return nil, err
		}
		all = append(all, mode)
	}
	return authz.Union(all...), nil
}

// newModeAuthorizer returns the authorizer of a mode. If the mode's decisions can change over time,
// it also registers a source of changes, so that cached decisions are invalidated.
func (p *policies) newModeAuthorizer(name string, roles *rbac.Authorizer) (authz.Authorizer, error) {
	switch name {
	case modeNode:
		return p.newNodeAuthorizer()
	case modeABAC:
		return p.readPolicies(p.config.Authorization.PolicyFile)
	case modeRBAC:
		return roles, nil
	case modeWebhook:
		p.authentication.generation.AddSource(currentSecond)
		return p.newWebhookAuthorizer()
	case modeAlwaysAllow:
		return authz.AlwaysAllow{}, nil
	}
	return authz.AlwaysDeny{}, nil
}

// newNodeAuthorizer returns the authorizer of the Node mode. Its decisions depend on the Pods of
// each node, so a change to these Pods invalidates cached decisions.
func (p *policies) newNodeAuthorizer() (authz.Authorizer, error) {
	mode, err := node.New(p.ctx, p.storage.objects, p.naming)
	if err != nil {
		return nil, err
	}
	p.authentication.generation.AddSource(func() any { return mode.Generation() })
	return mode, nil
}

// currentSecond returns a value that changes every second, so that connections cache decisions of
// the webhook for at most a second. Most repeated checks still do not reach the webhook, because
// the webhook authorizer has its own cache.
func currentSecond() any { return time.Now().Unix() }

// readPolicies reads the ABAC policies. Changes to the file need a restart.
func (p *policies) readPolicies(path string) (*authz.ABAC, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	policies, err := authz.ParseABAC(file, p.naming)
	if err != nil {
		return nil, fmt.Errorf("--authorization-policy-file %s: %w", path, err)
	}
	return policies, nil
}

// newWebhookAuthorizer returns the authorizer of the Webhook mode. It does not contact the webhook
// at startup, because the webhook may run in this daemon's own cluster.
func (p *policies) newWebhookAuthorizer() (*authz.Webhook, error) {
	c := p.config.Authorization.Webhook
	service, err := remote.Load(c.ConfigFile)
	if err != nil {
		return nil, fmt.Errorf("--authorization-webhook-config-file: %w", err)
	}
	return authz.NewWebhook(authz.WebhookOptions{
		Client: service, Version: c.Version, Naming: p.naming, Now: time.Now, Logger: p.log,
		AuthorizedTTL: time.Duration(c.CacheAuthorizedTTL), UnauthorizedTTL: time.Duration(c.CacheUnauthorizedTTL),
	}), nil
}

// escalationChecks returns the admission plugin that prevents privilege escalation through roles.
// Any mode may grant the verbs escalate and bind. If the Webhook mode is enabled, only RBAC may
// grant them, because a change must not wait for a webhook.
func (p *policies) escalationChecks(roles *rbac.Authorizer) []admission.Registration {
	c, modes := p.config.Authorization, p.authorizer
	if !c.has(modeRBAC) {
		return nil
	}
	if c.has(modeWebhook) {
		modes = roles
	}
	return []admission.Registration{rbac.Escalation(roles, modes, p.storage.objects)}
}
