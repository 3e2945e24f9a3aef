// Package resourcelist checks the names and quantities of resources such as cpu, memory and
// extended resources, in containers, quotas, limit ranges and nodes.
package resourcelist
