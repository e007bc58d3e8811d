"""Notes: the plugins, the resource and its handler."""

import os

from inmanta.agent.handler import CRUDHandler, ResourcePurged, provider
from inmanta.plugins import plugin
from inmanta.resources import PurgeableResource, resource


@plugin
def greeting(day: "string") -> "string":
    return f"Have a good {day.capitalize()}!\n"


@resource("notes::Note", id_attribute="path", agent="agent")
class Note(PurgeableResource):
    fields = ("path", "text")

    @staticmethod
    def get_path(exporter, note):
        return os.path.join(note.folder.path, note.name)


@provider("notes::Note", name="file")
class NoteHandler(CRUDHandler):
    def read_resource(self, ctx, resource):
        if not os.path.exists(resource.path):
            raise ResourcePurged()
        with open(resource.path) as file:
            resource.text = file.read()

    def create_resource(self, ctx, resource):
        os.makedirs(os.path.dirname(resource.path), exist_ok=True)
        self.write(resource)
        ctx.set_created()
        ctx.info("a new note: %(path)s", path=resource.path)

    def update_resource(self, ctx, changes, resource):
        self.write(resource)
        ctx.set_updated()

    def delete_resource(self, ctx, resource):
        os.remove(resource.path)
        ctx.set_purged()

    def write(self, resource):
        with open(resource.path, "w") as file:
            file.write(resource.text)
