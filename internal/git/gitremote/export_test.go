package gitremote

var Reason = reason
