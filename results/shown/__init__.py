"""A run for people: tables, figures and sentences, from data frames, and their forms: text, LaTeX, HTML, notebook."""
