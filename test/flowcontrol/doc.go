// Package flowcontrol tests API priority and fairness from outside: the objects and who maintains them, how requests are
// classified, what is refused and how, and what operators see. The engine is tested in policy/flowcontrol.
package flowcontrol
