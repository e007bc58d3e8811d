title = the frontend answers
