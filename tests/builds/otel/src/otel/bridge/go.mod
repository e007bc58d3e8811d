module bridge
