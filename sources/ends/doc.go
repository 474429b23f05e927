// Package ends turns a knob on several hosts as one: both ends of a testbed, or
// none. It knows no kernel and no connection: each end is a Turner, and how a turn
// ended is overheard from what that end says. Ends therefore stands between the
// sources of knob events and the hub.
package ends
