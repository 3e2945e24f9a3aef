// Package network plays clients of Services, their addresses and endpoints, of disruption budgets and of nodes, against a
// daemon with its controllers.
package network
