// Package resourcelist checks lists of resources, such as cpu, memory and what vendors add, and
// their quantities: in the requests and limits of containers, in quotas, in limit ranges and on nodes.
package resourcelist
