// Package schema turns the declarations of kinds into the plan: plain tables that
// every engine of package kinds walks. It is the only reader of options.
package schema
