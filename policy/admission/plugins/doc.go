// Package plugins holds the admission plugins that need no package of their own: each constructor
// makes the Registration of the plugin that operators know by its name, and stands in a file with it.
//
// Plugins keep no state but what a policy.Cache gives them. They must not block unless they run at stage
// request.MayBlock.
//
// A plugin changes objects in Admit, which runs before validation, and judges them in Validate, which runs
// after all plugins and webhooks have made their changes: what a plugin enforces it must check there, or a
// later plugin could undo it. Both may run again on the same object (reinvocation, retries after a
// conflict), so Admit must come to the same result when it has run before.
//
// Words of refusals are those of the API that clients know, with their oddities.
package plugins
