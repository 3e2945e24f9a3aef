package daemon

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

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

// modes are all that --authorization-mode accepts, as its help lists them. In which order they are asked is up to the
// operator: the first that allows or denies decides.
var modes = []string{modeNode, modeABAC, modeRBAC, modeWebhook, modeAlwaysAllow, modeAlwaysDeny}

// Authorization says by which modes requests are authorized. A mode without an opinion passes a request on;
// one that no mode allows is refused.
type Authorization struct {
	// Modes are asked in this order; the first that allows or denies decides.
	Modes []string `json:"modes"`
	// AlwaysAllowPaths may be read by everybody; "*" ends one that stands for all that begin so.
	AlwaysAllowPaths []string             `json:"alwaysAllowPaths"`
	PolicyFile       string               `json:"policyFile"` // of ABAC
	Webhook          AuthorizationWebhook `json:"webhook"`
}

// AuthorizationWebhook is the remote that the mode Webhook asks.
type AuthorizationWebhook struct {
	ConfigFile           string   `json:"configFile"` // "" is none
	Version              string   `json:"version"`
	CacheAuthorizedTTL   Duration `json:"cacheAuthorizedTTL"`
	CacheUnauthorizedTTL Duration `json:"cacheUnauthorizedTTL"`
}

// The times and the version of the webhook are those of the API server that clients know.
func defaultAuthorization() Authorization {
	return Authorization{
		Modes: []string{modeRBAC}, AlwaysAllowPaths: authz.HealthPaths(),
		Webhook: AuthorizationWebhook{
			Version: "v1beta1", CacheAuthorizedTTL: Duration(5 * time.Minute), CacheUnauthorizedTTL: Duration(30 * time.Second),
		},
	}
}

// flags binds the section. Settings of a mode that is not used are bound as well, for validate to report.
func (a *Authorization) flags(f *pflag.FlagSet) {
	f.StringSliceVar(&a.Modes, "authorization-mode", a.Modes, "Modes of authorization in the order in which they are asked, with commas: "+strings.Join(modes, ", ")+". The first that allows or denies decides.")
	f.StringSliceVar(&a.AlwaysAllowPaths, "authorization-always-allow-paths", a.AlwaysAllowPaths, "Paths that everybody may read, with commas; * ends one that stands for all that begin so.")
	f.StringVar(&a.PolicyFile, "authorization-policy-file", a.PolicyFile, "File of the policies of the mode ABAC, one JSON object on each line.")
	f.StringVar(&a.Webhook.ConfigFile, "authorization-webhook-config-file", a.Webhook.ConfigFile, "Client configuration file (kubeconfig) of the remote that the mode Webhook asks.")
	f.StringVar(&a.Webhook.Version, "authorization-webhook-version", a.Webhook.Version, "Version of the SubjectAccessReview that the remote gets: v1 or v1beta1.")
	f.Var(&a.Webhook.CacheAuthorizedTTL, "authorization-webhook-cache-authorized-ttl", "How long an answer of the remote that allows counts; 0 asks for every request.")
	f.Var(&a.Webhook.CacheUnauthorizedTTL, "authorization-webhook-cache-unauthorized-ttl", "How long another answer of the remote counts; 0 asks for every request.")
}

// A file without its mode is an error, for its author believes in rules that nobody would read.
// A mode that is named twice could only repeat its answer, so it is most likely a slip.
func (a Authorization) validate(f *faults) {
	const mode = "authorization.modes (--authorization-mode)"
	f.check(len(a.Modes) > 0, "authorization.modes", "must name a mode")
	for i, name := range a.Modes {
		f.oneOf(mode, name, modes...)
		f.check(!slices.Contains(a.Modes[:i], name), mode, fmt.Sprintf("%q is there twice", name))
	}
	for _, path := range a.AlwaysAllowPaths {
		f.check(strings.HasPrefix(path, "/"), "authorization.alwaysAllowPaths", fmt.Sprintf("%q does not begin with /", path))
	}
	f.check((a.PolicyFile != "") == a.has(modeABAC), "authorization.policyFile (--authorization-policy-file)", "goes together with the mode ABAC")
	a.Webhook.validate(f, a.has(modeWebhook))
}

// validate reports a remote without the mode Webhook, too: an operator who names one believes that it is asked.
func (w AuthorizationWebhook) validate(f *faults, used bool) {
	f.check((w.ConfigFile != "") == used, "authorization.webhook.configFile (--authorization-webhook-config-file)", "goes together with the mode Webhook")
	f.oneOf("authorization.webhook.version", w.Version, "v1", "v1beta1")
	f.check(w.CacheAuthorizedTTL >= 0, "authorization.webhook.cacheAuthorizedTTL", "must not be negative")
	f.check(w.CacheUnauthorizedTTL >= 0, "authorization.webhook.cacheUnauthorizedTTL", "must not be negative")
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
