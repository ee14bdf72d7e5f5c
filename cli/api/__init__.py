"""The HTTP door: jobs, speech, files and batches in OpenAI's shapes, and the page. Thin: parse, call `jobs/`, answer.

`cli/api/app.py` joins the routers; each module holds one router and knows no other. Needs the extra `[api]`.
"""
