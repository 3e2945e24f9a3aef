// Package node validates and defaults RuntimeClasses.
package node
