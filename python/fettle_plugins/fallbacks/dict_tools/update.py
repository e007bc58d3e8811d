from fettle_plugins.maps import update

__all__ = ["update"]
