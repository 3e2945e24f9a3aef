// Package family defines how packages of API groups describe their kinds to the catalog (Kind), and
// parts of strategies that several groups embed.
package family
