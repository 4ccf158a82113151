"""Live numbers: every figure on a page is computed by `lesson_code`, or cited, or the build fails."""

from live_numbers.hooks import define_env, on_post_build, on_post_page_macros, on_pre_page_macros

__all__ = ["define_env", "on_post_build", "on_post_page_macros", "on_pre_page_macros"]
