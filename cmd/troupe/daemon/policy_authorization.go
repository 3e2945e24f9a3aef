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

// The modes of authorization. Their names are those of the API server that clients know.
const (
	modeNode        = "Node"
	modeABAC        = "ABAC"
	modeRBAC        = "RBAC"
	modeWebhook     = "Webhook"
	modeAlwaysAllow = "AlwaysAllow"
	modeAlwaysDeny  = "AlwaysDeny"
)

// Authorization says by which modes requests are authorized. A mode without an opinion passes a request on;
// one that no mode allows is refused.
type Authorization struct {
	// Modes are asked in this order; the first that allows or denies decides.
	Modes []string `flag:"authorization-mode"`
	// AlwaysAllowPaths may be read by everybody; "*" ends one that stands for all that begin so.
	AlwaysAllowPaths []string `flag:"authorization-always-allow-paths"`
	PolicyFile       string   `flag:"authorization-policy-file"` // of ABAC
	Webhook          AuthorizationWebhook
}

// AuthorizationWebhook is the remote that the mode Webhook asks.
type AuthorizationWebhook struct {
	ConfigFile           string   `flag:"authorization-webhook-config-file"` // "" is none
	Version              string   `flag:"authorization-webhook-version"`
	CacheAuthorizedTTL   Duration `flag:"authorization-webhook-cache-authorized-ttl"`
	CacheUnauthorizedTTL Duration `flag:"authorization-webhook-cache-unauthorized-ttl"`
}

// A file without its mode is an error, for its author expects rules that nothing would read.
// A mode that is named twice could only repeat its answer, so it is most likely a slip.
func (a Authorization) validate(f *faults) {
	for i, name := range a.Modes {
		f.check(!slices.Contains(a.Modes[:i], name), "authorization-mode", fmt.Sprintf("%q is there twice", name))
	}
	checkPaths(f, "authorization-always-allow-paths", a.AlwaysAllowPaths)
	f.check((a.PolicyFile != "") == a.has(modeABAC), "authorization-policy-file", "goes together with the mode ABAC")
	f.check((a.Webhook.ConfigFile != "") == a.has(modeWebhook), "authorization-webhook-config-file", "goes together with the mode Webhook")
}

func checkPaths(f *faults, name string, paths []string) {
	for _, path := range paths {
		f.check(strings.HasPrefix(path, "/"), name, fmt.Sprintf("%q does not begin with /", path))
	}
}

// has tells whether a mode is one of those that are asked.
func (a Authorization) has(mode string) bool { return slices.Contains(a.Modes, mode) }

// newAuthorizer makes the modes of authorization, in their order. Before all of them, members of
// system:masters may do everything and everybody may read the paths that are always open. Where
// everything is denied, the one master is the daemon's own administrator.
func (p *policies) newAuthorizer(roles *rbac.Authorizer) (authz.Authorizer, error) {
	c := p.config.Authorization
	// With a name set, membership of the group alone is not enough.
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

// Modes whose answers change register what the change can be seen by. validate has refused unknown names,
// so what is left denies.
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

// newNodeAuthorizer makes the mode Node. What it allows depends on which Pods a node has, so its generation is part of
// the daemon's: answers that were made under an earlier one are not used again.
func (p *policies) newNodeAuthorizer() (authz.Authorizer, error) {
	mode, err := node.New(p.ctx, p.storage.objects, p.naming)
	if err != nil {
		return nil, err
	}
	p.authentication.generation.AddSource(func() any { return mode.Generation() })
	return mode, nil
}

// currentSecond changes each second, and so do decisions of a remote: they are asked for again then,
// and come from the cache as long as they count.
func currentSecond() any { return time.Now().Unix() }

// readPolicies reads the policies of the mode ABAC, once. A change of the file needs a restart.
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

// The remote is not asked at the start: the daemon must start before a remote that runs in its cluster.
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

// escalationChecks keeps users from handing out by roles what they do not hold, if roles decide. The
// rights to escalate and to bind may come from any mode but a remote one, for which a change
// does not wait.
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
