// Package flowcontrol has the controller of the objects by which requests share the server: it makes and maintains those of
// the server itself, and tells of each flow schema whether its priority level is there. What the objects do to requests is
// the business of the package of the same name below policy.
package flowcontrol
