"""What programs and plugins import as `pop`: a hub of their own (`pop.hub.Hub`), `pop.contract`, `pop.exc`.

What is not here is taken from the real package where it is installed.
"""

import pkgutil

__path__ = pkgutil.extend_path(__path__, __name__)
