// Package family is what the packages of API groups have in common when they describe their kinds
// to the catalog: the entry of a kind (Kind), and parts of strategies that kinds of several groups
// embed.
package family
