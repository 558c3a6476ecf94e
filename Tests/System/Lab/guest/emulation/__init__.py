"""The air of the lab: the gateway's adapter on /dev/vhci and scripted peripherals, all made of bumble."""
