// Package node holds the rules of RuntimeClasses.
package node
