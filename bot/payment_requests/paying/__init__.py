"""Pay a request by its link: the review, the order, and what its asker hears of it."""
