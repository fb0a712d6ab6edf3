"""Is a planted defect real, visible where it should be, nowhere else, and gone when undone? (spec 12 §12.11)"""
