package daemon

import (
	"context"

	"github.com/troupe-api/troupe/cmd/troupe/internal/features"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/policy/authz/rbac"
)

// reconcileDefaultRoles makes and repairs the default roles and bindings. Without them the daemon serves
// its administrator as well; so it starts also when the disk is full. Roles that an operator has changed
// get back only what they lack.
func (d *Daemon) reconcileDefaultRoles(kinds *catalog.Catalog) {
	var pages rbac.Pages
	if d.features.Enabled(features.ComponentFlagz) {
		pages.Monitoring = append(pages.Monitoring, "/flagz")
	}
	if d.features.Enabled(features.ComponentStatusz) {
		pages.Monitoring = append(pages.Monitoring, "/statusz")
	}
	if d.config.Serving.Console {
		pages.Everybody = []string{"/console", "/console/*"}
	}
	if err := rbac.Reconcile(context.Background(), d.store, kinds, pages); err != nil {
		d.log.Warn("making the default roles and bindings", "error", err)
	}
}

// escalationChecks keeps users from handing out by roles what they do not hold, if roles decide. The
// rights to escalate and to bind may come from any mode but a remote one, for which a change
// does not wait.
func (d *Daemon) escalationChecks(roles *rbac.Authorizer, modes authz.Authorizer) []admission.Registration {
	c := d.config.Authorization
	if !c.has(modeRBAC) {
		return nil
	}
	if c.has(modeWebhook) {
		modes = roles
	}
	return []admission.Registration{rbac.Escalation(roles, modes, d.objects)}
}
