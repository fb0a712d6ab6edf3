"""What a parcel costs: a plain function, called in a worker process of its own."""

LIMIT = 20


def serve(request):
    """Answer one tool call; what it returns is the structured result, an exception becomes a tool error."""
    return quote(**request["channels"]["arguments"])


def quote(weight, express):
    """The price in cents of a parcel of `weight` kilograms."""
    if not isinstance(weight, (int, float)) or weight <= 0:
        raise ValueError("the weight must be a positive number")
    if weight > LIMIT:
        raise ValueError("the parcel is too heavy")
    price = 500 + 40 * weight
    return {"price": price + 300 if express else price}
