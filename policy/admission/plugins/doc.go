// Package plugins contains the admission plugins that need no package of their own.
//
// Plugins keep no state except in a policy.Cache. They must not block unless they run at stage
// request.MayBlock.
//
// A plugin changes objects in Admit, before validation, and checks them in Validate, after all
// mutating plugins and webhooks. It must enforce its rules in Validate, because a later plugin may
// undo its changes. Both may run again on the same object (reinvocation, conflict retries), so
// Admit must be idempotent.
//
// Error messages match those of Kubernetes, including their quirks.
package plugins
