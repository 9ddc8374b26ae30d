# A lookup that sends a secret, and returns its link. Its text reaches the server alone: no file, no argument of a program.
from __future__ import annotations

DOCUMENTATION = """
name: pushbox
short_description: send a secret with pushbox, and return its link
description:
  - Each term is a secret that becomes a push. The result is its link, for a person.
  - Ansible evaluates a lookup each time that it needs the value, and each makes a push. So keep the link with C(set_fact) first.
  - The terms are not logged, but what a task prints is. Set C(no_log) to true where a task has the secret itself.
options:
  _terms: {description: the secrets, required: true}
  url:
    description: address of the server
    required: true
    env: [{name: PUSHBOX_URL}]
    vars: [{name: pushbox_url}]
  token:
    description: API token; without one the push belongs to no account
    env: [{name: API_TOKEN}]
    vars: [{name: pushbox_token}]
  token_file:
    description: file with the API token alone
    type: path
    env: [{name: PUSHBOX_TOKEN_FILE}]
  ca_file:
    description: certificates (PEM) of the authority of the server
    type: path
    env: [{name: PUSHBOX_CA_FILE}]
  days: {description: days until the push expires, type: int}
  views: {description: views until it expires, type: int}
  passphrase: {description: required for each retrieval}
  label: {description: "name in the list of its owner; C(name) is a word of Ansible's own"}
  timeout: {description: seconds to wait, type: int, default: 30}
"""

EXAMPLES = """
- ansible.builtin.set_fact:
    link: "{{ lookup('pushbox', password, url='https://push.example.com', days=2, views=1) }}"
  no_log: true
"""

RETURN = """
_raw: {description: the links, type: list, elements: str}
"""

import json
from urllib.error import HTTPError

from ansible.errors import AnsibleError
from ansible.module_utils.urls import open_url
from ansible.plugins.lookup import LookupBase


class LookupModule(LookupBase):
    def run(self, terms, variables=None, **kwargs):
        self.set_options(var_options=variables, direct=kwargs)
        fields = {name: self.get_option(option) for name, option in (
            ("expire_after_days", "days"), ("expire_after_views", "views"), ("passphrase", "passphrase"), ("name", "label"),
        ) if self.get_option(option) is not None}
        return [self.push(dict(fields, payload=str(term))) for term in terms]

    def push(self, fields):
        headers = {"Content-Type": "application/json"}
        if token := self.token():
            headers["Authorization"] = "Bearer " + token
        try:
            # A redirect could lead the secret elsewhere.
            answer = open_url(self.get_option("url").rstrip("/") + "/api/v2/pushes", method="POST", data=json.dumps({"push": fields}),
                              headers=headers, timeout=self.get_option("timeout"), follow_redirects="none", ca_path=self.get_option("ca_file"))
            return json.loads(answer.read())["html_url"]
        except HTTPError as e:
            raise AnsibleError("pushbox refused the secret: %s" % self.reason(e)) from None
        except Exception as e:  # its text has the address at most
            raise AnsibleError("pushbox took no secret: %s" % (getattr(e, "reason", None) or type(e).__name__)) from None

    def token(self):
        if path := self.get_option("token_file"):
            try:
                with open(path, encoding="ascii") as f:
                    return f.read().strip()
            except (OSError, UnicodeError) as e:
                raise AnsibleError("the file of the API token cannot be read: %s" % type(e).__name__) from None
        return self.get_option("token")

    @staticmethod
    def reason(e):
        try:
            return "%d, %s" % (e.code, json.loads(e.read())["error"])
        except Exception:
            return str(e.code)
