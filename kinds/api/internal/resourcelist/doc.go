// Package resourcelist validates resource names and quantities, such as cpu, memory and extended
// resources, in containers, quotas, limit ranges and nodes.
package resourcelist
